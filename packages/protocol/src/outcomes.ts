// The statuses of a run, and what people read instead: on pages, in lists and in documents. Without a schema, for the web app.
export const runStatuses = ["CREATING", "RUNNING", "FINISHED", "ERROR", "CANCELLED", "EXPIRED"] as const;
export type RunStatus = (typeof runStatuses)[number];

export const outcomeWords: Record<RunStatus, string> = {
  CREATING: "Queued",
  RUNNING: "Running",
  FINISHED: "Finished",
  ERROR: "Failed",
  CANCELLED: "Cancelled",
  EXPIRED: "Expired",
};

export const firingStatuses = ["planned", "started", "skipped", "missed", "failed"] as const;

export const firingWords: Record<(typeof firingStatuses)[number], string> = {
  planned: "Planned",
  started: "Started",
  skipped: "Skipped",
  missed: "Missed",
  failed: "Failed to start",
};

export const buildStatuses = ["IN_PROGRESS", "SUCCEEDED", "FAILED", "CANCELLED", "SKIPPED"] as const;

export const buildWords: Record<(typeof buildStatuses)[number], string> = {
  IN_PROGRESS: "In progress",
  SUCCEEDED: "Succeeded",
  FAILED: "Failed",
  CANCELLED: "Cancelled",
  SKIPPED: "Skipped",
};

/** The model of a run. */
export function describeRunModel({ id, provider }: { id: string; provider?: string | undefined }): string {
  if (provider === "practice") return "practice model (scripted, no intelligence)";
  return provider === undefined ? id : `${id} of ${provider}`;
}

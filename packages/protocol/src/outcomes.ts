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

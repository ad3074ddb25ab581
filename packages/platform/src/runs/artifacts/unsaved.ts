// The artifacts of a run that could not be kept: sealed on the run, with the time of the next attempt.
import type { FoundSecret } from "@agentcli/engine";
import type { UnsavedArtifact } from "@agentcli/protocol/api";
import { sql } from "kysely";
import { type DataKey, isStorageFull, type Queries } from "../../foundation/index.ts";

export const retryIntervalMs = 10_000;

const messages: Record<UnsavedArtifact["reason"], string> = {
  storage_full: "The disk of the server was full. The server tries again.",
  failed: "It could not be stored. The server tries again.",
  too_large: "It is larger than 200 MiB. Have the agent split or compress it.",
  secret: "It contains a secret. Have the agent remove it.",
  too_many: "The run left more than 1000 files. Have the agent put them into an archive.",
};

export const unsaved = (path: string, reason: UnsavedArtifact["reason"]): UnsavedArtifact => ({
  path,
  reason,
  message: messages[reason],
});

/** `maxBytes` is for all artifacts of the agent. */
export const aboveTotal = (path: string, maxBytes: number): UnsavedArtifact => ({
  path,
  reason: "too_large",
  message: `With it the artifacts of the agent would have more than ${maxBytes} bytes (limits.disk). Use another agent, or ask the operator to raise the limit.`,
});

/** Named without its value. */
export const withSecret = (path: string, { name, line }: FoundSecret): UnsavedArtifact => ({
  path,
  reason: "secret",
  message: `Line ${line} contains the secret ${name}. Have the agent remove it.`,
});

export const namedAfterSecret = (path: string, { name }: FoundSecret): UnsavedArtifact => ({
  path,
  reason: "secret",
  message: `Its name contains the secret ${name}. Have the agent rename it.`,
});

export const notStored = (path: string, error: unknown): UnsavedArtifact =>
  unsaved(path, isStorageFull(error) ? "storage_full" : "failed");

export const canBeRetried = ({ reason }: UnsavedArtifact): boolean => reason === "storage_full" || reason === "failed";

export async function recordUnsaved(
  db: Queries,
  { runId, key }: { runId: string; key: DataKey },
  list: UnsavedArtifact[],
): Promise<void> {
  const sealed = list.length === 0 ? null : key.seal(JSON.stringify(list), unsavedAad(runId));
  const next = list.some(canBeRetried) ? sql<Date>`now() + ${`${retryIntervalMs} milliseconds`}::interval` : null;
  await db
    .updateTable("runs")
    .set({ unsaved_artifacts: sealed, retry_artifacts_at: next })
    .where("id", "=", runId)
    .execute();
}

export const openUnsaved = (runId: string, key: DataKey, sealed: Buffer): UnsavedArtifact[] =>
  JSON.parse(key.openText(sealed, unsavedAad(runId)));

const unsavedAad = (runId: string): string => `unsaved-artifacts:${runId}`;

// Saves of a run on which its success does not depend: before it starts on a worker, and after the hand-off.
import { type Log, ObjectStoreFault } from "../../foundation/index.ts";
import type { RunDisk } from "./run-disk.ts";

/** Goes on where the store is away: the next one saves again. */
export async function saveIfPossible(disk: RunDisk, { runId, log }: { runId: string; log: Log }): Promise<void> {
  await disk.save().catch((error: unknown) => {
    if (!(error instanceof ObjectStoreFault)) throw error;
    log.error("files of the agent not saved", error, { runId });
  });
}

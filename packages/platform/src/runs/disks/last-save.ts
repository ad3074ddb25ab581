// The last save of a run, with what the hand-off has written.
import { type Log, ObjectStoreFault } from "../../foundation/index.ts";
import type { RunDisk } from "./run-disk.ts";

/** The run has ended, also where the store is away: the next one saves again. */
export async function saveAfterHandoff(disk: RunDisk, { runId, log }: { runId: string; log: Log }): Promise<void> {
  await disk.save().catch((error: unknown) => {
    if (!(error instanceof ObjectStoreFault)) throw error;
    log.error("files of the agent not saved", error, { runId });
  });
}

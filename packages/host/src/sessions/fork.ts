// The records a fork begins with: those of another thread, up to the end of a turn.
import type { StoredRecord } from "@agentcli/engine";
import { HostError } from "../host-error.ts";

export interface ForkRequest {
  threadId: string;
  /** The last turn to copy; absent: the last one that ended. */
  lastTurnId?: string | undefined;
}

/** A working tree belongs to the thread it was created for. */
export function forkRecords(records: StoredRecord[], { threadId, lastTurnId }: ForkRequest): StoredRecord[] {
  const last = records.findLastIndex(
    ({ record }) => record.type === "turn.ended" && (lastTurnId === undefined || record.turnId === lastTurnId),
  );
  const [first, ...rest] = records.slice(0, last + 1);
  const created = records[0]?.record;
  if (created?.type !== "thread.created") throw new HostError("usage", "Cannot fork: the session is empty.");
  if (!first) {
    const which = lastTurnId === undefined ? "no completed turn" : `no completed turn ${lastTurnId}`;
    throw new HostError("usage", `Cannot fork session ${created.threadId}: it has ${which}.`);
  }
  const { worktree: _, ...kept } = created;
  return [{ ...first, record: { ...kept, threadId, forkedFrom: created.threadId } }, ...rest];
}

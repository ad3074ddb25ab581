// The records a fork begins with: those of another thread, up to the end of a turn or a chosen record.
import type { StoredRecord } from "@agentcli/engine";
import { HostError } from "../host-error.ts";

export interface ForkRequest {
  threadId: string;
  /** The last turn to copy; absent: the last one that ended. */
  lastTurnId?: string | undefined;
  /** Number of the last record to copy, which may be in the middle of a turn; absent: as `lastTurnId` says. */
  lastSeq?: number | undefined;
}

/** A working tree belongs to the thread it was created for. */
export function forkRecords(records: StoredRecord[], { threadId, lastTurnId, lastSeq }: ForkRequest): StoredRecord[] {
  const isEnd = ({ record }: StoredRecord) =>
    record.type === "turn.ended" && (lastTurnId === undefined || record.turnId === lastTurnId);
  const last = records.findLastIndex((stored) => (lastSeq === undefined ? isEnd(stored) : stored.seq <= lastSeq));
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

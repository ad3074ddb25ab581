// Runs whose process is gone: they end as interrupted, and their conversation can go on.
import { abandonTurn, openLog, readThread, type SessionStore, type StoredRecord } from "@agentcli/engine";
import type { LocalAgentStore, LocalRunRecord } from "../local-store.ts";
import { isUnderWay } from "./records.ts";
import { endOf, lastFrames, type RunEnd } from "./run-end.ts";

export interface InterruptedRun {
  store: LocalAgentStore;
  /** Runs of this process are not looked at. */
  driven: Map<string, unknown>;
}

/** Does nothing where another process drives the agent. */
export async function settleInterrupted(agentId: string, { store, driven }: InterruptedRun): Promise<void> {
  const left = (await store.runs.list(agentId)).filter((run) => isUnderWay(run) && !driven.has(run.id));
  if (left.length === 0) return;
  const claim = await store.claim(agentId);
  if (claim.kind === "busy") return;
  try {
    await endLeftRuns(agentId, store);
  } finally {
    await claim.release();
  }
}

/** For the holder of the claim: no other process can be driving. */
export async function endLeftRuns(agentId: string, store: LocalAgentStore): Promise<void> {
  const left = (await store.runs.list(agentId)).filter(isUnderWay);
  if (left.length === 0) return;
  const records = await closeTurn(agentId, store);
  for (const run of left) await endRun(run, records, store);
}

const error = {
  code: "interrupted",
  message: "The process executing this run exited before the run finished. Send another prompt to continue.",
} as const;

/** If the turn did end and only the end of the run was not stored, the run gets the end of its turn. */
async function endRun(run: LocalRunRecord, records: StoredRecord[], store: LocalAgentStore): Promise<void> {
  const { agentId, id } = run;
  const events = await store.runEvents.read(agentId, id, 0);
  const end = endIn(records, id) ?? { status: "ERROR", error };
  const now = new Date();
  const durationMs = now.getTime() - Date.parse(run.createdAt);
  const last = events.at(-1)?.seq ?? 0;
  const missing = lastFrames(end, id, durationMs).filter(
    ({ event }) => !events.some(({ frame }) => frame.event === event),
  );
  const added = missing.map((frame, index) => ({ seq: last + 1 + index, frame }));
  if (added.length > 0) await store.runEvents.append(agentId, id, added);
  await store.runs.put({ ...run, ...end, durationMs, updatedAt: now.toISOString() });
}

function endIn(records: StoredRecord[], runId: string): RunEnd | null {
  for (const { record } of records)
    if (record.type === "turn.ended" && record.turnId === runId) return endOf(record.end);
  return null;
}

/** Ends the open turn; calls without an outcome are recorded as unknown. Returns what was written before. */
async function closeTurn(agentId: string, store: LocalAgentStore): Promise<StoredRecord[]> {
  const sessions = sessionsOf(agentId, store);
  const { state, records } = await readThread(sessions, agentId);
  const log = openLog(state, { store: sessions, emit() {} });
  const left = abandonTurn(state, { status: "failed", ...error });
  if (left.length > 0) await log.write(...left);
  return records;
}

/** The checkpoints of an agent as the engine's sessions. */
export const sessionsOf = (agentId: string, { checkpoints }: LocalAgentStore): SessionStore => ({
  async append(threadId, after, records) {
    const at = new Date().toISOString();
    const stored = records.map((record, index): StoredRecord => ({ seq: after + index + 1, at, record }));
    await checkpoints.append(agentId, threadId, stored);
    return stored;
  },
  async *read(threadId, after = 0) {
    yield ((await checkpoints.read(agentId, threadId)) as StoredRecord[]).filter(({ seq }) => seq > after);
  },
});

// Runs whose process is gone: they end as interrupted, and their conversation can go on.
import { abandonTurn, openLog, readThread, type SessionStore, type StoredRecord } from "@agentcli/engine";
import type { StreamFrame } from "@agentcli/protocol/api";
import type { LocalAgentStore, LocalRunRecord } from "../local-store.ts";
import { isUnderWay } from "./records.ts";

export interface Interrupting {
  store: LocalAgentStore;
  /** Runs of this process are not looked at. */
  driven: Map<string, unknown>;
}

/** Looks at an agent that somebody may be driving: then there is nothing to settle. */
export async function settleInterrupted(agentId: string, { store, driven }: Interrupting): Promise<void> {
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

/** For who holds the claim: nobody else can be driving. */
export async function endLeftRuns(agentId: string, store: LocalAgentStore): Promise<void> {
  const left = (await store.runs.list(agentId)).filter(isUnderWay);
  if (left.length === 0) return;
  await closeTurn(agentId, store);
  for (const run of left) await endRun(run, store);
}

const error = {
  code: "interrupted",
  message: "The process that drove this run ended before the run did. Send another prompt to go on.",
};

async function endRun(run: LocalRunRecord, store: LocalAgentStore): Promise<void> {
  const events = await store.runEvents.read(run.agentId, run.id, 0);
  const now = new Date();
  const durationMs = now.getTime() - Date.parse(run.createdAt);
  const isTold = events.some(({ frame }) => frame.event === "result");
  const last = events.at(-1)?.seq ?? 0;
  const frames: StreamFrame[] = [
    { event: "result", data: { runId: run.id, status: "ERROR", durationMs, error } },
    { event: "done", data: {} },
  ];
  if (!isTold)
    await store.runEvents.append(
      run.agentId,
      run.id,
      frames.map((frame, index) => ({ seq: last + 1 + index, frame })),
    );
  await store.runs.put({ ...run, status: "ERROR", error, durationMs, updatedAt: now.toISOString() });
}

/** The engine's own words for calls whose outcome nobody knows. */
async function closeTurn(agentId: string, store: LocalAgentStore): Promise<void> {
  const sessions = sessionsOf(agentId, store);
  const { state } = await readThread(sessions, agentId);
  if (!state.turn) return;
  const log = openLog(state, { store: sessions, emit() {} });
  await log.write(...abandonTurn(state, { status: "cancelled", reason: "interrupted" }));
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

// Drives a turn to its end, within the time limits of its run.

import { abandonTurn, drive, type Log, lastTurn, type StoredRecord } from "@agentcli/engine";
import type { TurnEnd } from "@agentcli/protocol";
import { explainLimit } from "@agentcli/protocol/system-errors";
import { SandboxUnavailable } from "@agentcli/protocol/workspace-errors";
import type { Assembly } from "./assemble.ts";

/** How long hooks may take when a session ends because its program is stopping. */
export const endHookTimeoutMs = {
  /** A user at a terminal waits for the program. */
  program: 3_000,
  /** A client that cancels a run waits at most a second for the cancelled status. */
  service: 500,
};

export interface LastTurnOptions {
  hookTimeoutMs: number;
  signal: AbortSignal;
}

/** For the last turn of this process: sub-agents, hooks and MCP servers end before the end of the turn is written. */
export const asLastTurn = (log: Log, { dependencies, endServers }: LastTurnRun, options: LastTurnOptions): Log =>
  lastTurn(withoutServers(log, endServers), dependencies, options);

type RunsWith = Pick<Assembly, "dependencies">;
type LastTurnRun = Pick<Assembly, "dependencies" | "endServers">;

/** The log searches for new repositories at the end of a turn: a server that runs in the workspace could create one after it. */
const withoutServers = (log: Log, endServers: LastTurnRun["endServers"]): Log => ({
  get state() {
    return log.state;
  },
  async write(...records) {
    // Closing the run reports what could not be ended.
    if (records.some(({ type }) => type === "turn.ended")) await endServers().catch(() => {});
    return log.write(...records);
  },
});

/**
 * A service drives one turn per run. Errors are thrown to the caller, which decides whether the run has failed or another
 * process continues it.
 */
export async function driveServiceTurn(log: Log, assembly: LastTurnRun, signal: AbortSignal): Promise<TurnEnd> {
  const last = asLastTurn(log, assembly, { signal, hookTimeoutMs: endHookTimeoutMs.service });
  const { end } = await drive(last, assembly.dependencies, signal);
  return end ?? { status: "failed", code: "internal", message: "Internal error: the turn stopped without a result." };
}

/** Clients that saw the turn start must see it end, so errors become its end. */
export async function driveToEnd(
  log: Log,
  { dependencies }: RunsWith,
  { signal, show }: { signal: AbortSignal; show(stored: StoredRecord): void | Promise<void> },
): Promise<TurnEnd> {
  try {
    const { end } = await drive(log, dependencies, signal);
    if (end) return end;
    throw new Error(`thread ${log.state.threadId} rests without an end`);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const code = error instanceof SandboxUnavailable ? "sandbox" : "internal";
    const end: FailedEnd = { status: "failed", code, message: explainLimit(error) ?? message };
    await closeTurn(log, end, show);
    return end;
  }
}

type FailedEnd = Extract<TurnEnd, { status: "failed" }>;

async function closeTurn(
  log: Log,
  end: FailedEnd,
  show: (stored: StoredRecord) => void | Promise<void>,
): Promise<void> {
  const records = abandonTurn(log.state, end);
  try {
    await log.write(...records);
  } catch {
    // The session cannot be written (a full disk, another writer): the turn stays open there and can be resumed.
    const at = new Date().toISOString();
    for (const record of records) await show({ seq: log.state.seq, at, record });
  }
}

/** After this time the turn ends with this code. */
export interface TimeLimit {
  afterMs: number | null;
  code: "limit" | "budget";
  limit: string;
}

/** Calls `act` with a signal that also aborts when one of the limits is reached. */
export async function withLimits<Result>(
  limits: TimeLimit[],
  signal: AbortSignal,
  act: (limited: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const stop = new AbortController();
  const timers = limits.flatMap((limit) => startTimer(limit, stop));
  const pass = () => stop.abort(signal.reason);
  if (signal.aborted) pass();
  signal.addEventListener("abort", pass, { once: true });
  try {
    return await act(stop.signal);
  } finally {
    signal.removeEventListener("abort", pass);
    for (const timer of timers) clearTimeout(timer);
  }
}

function startTimer({ afterMs, code, limit }: TimeLimit, stop: AbortController): NodeJS.Timeout[] {
  if (afterMs === null) return [];
  const flag = code === "limit" ? "--limit" : "--budget";
  const message = `The run reached its ${limit} ${code} of ${afterMs} ms. The work so far is kept; resume it, with a larger ${flag} ${limit}=DURATION if need be.`;
  return [setTimeout(() => stop.abort({ end: { status: "failed", code, message, limit } }), afterMs).unref()];
}

// The last turn of the process: sub-agents end and session hooks run before its end is recorded.
import type { Log } from "./log/log.ts";
import { type Dependencies, withSubagentCharges } from "./running.ts";

export interface LastTurnOptions {
  signal: AbortSignal;
  /** Time limit of session hooks when the process is asked to stop. */
  hookTimeoutMs: number;
}

/** Wraps the log: the first `turn.ended` written to it also ends the session. */
export function lastTurn(log: Log, dependencies: Dependencies, { signal, hookTimeoutMs }: LastTurnOptions): Log {
  const { subagents, hooks, reservations = new Map() } = dependencies;
  let hasEnded = false;
  return {
    state: log.state,
    async write(...records) {
      const ended = records.find(({ type }) => type === "turn.ended");
      if (ended?.type === "turn.ended" && !hasEnded) {
        hasEnded = true;
        await subagents?.end();
        const limited = signal.aborted ? AbortSignal.timeout(hookTimeoutMs) : signal;
        await hooks?.endSession(ended.end, { ...dependencies, log, signal: limited, reservations });
      }
      return log.write(...withSubagentCharges(records, subagents));
    },
  };
}

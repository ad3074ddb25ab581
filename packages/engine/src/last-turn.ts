// A turn after which the program ends: its sub-agents and its hooks have had their last word before its end is written.
import type { Log } from "./log.ts";
import type { Dependencies } from "./running.ts";

export interface Ending {
  signal: AbortSignal;
  /** Whoever told the program to stop does not wait long for hooks. */
  patienceMs: number;
}

/** The same log; the first end of a turn that is written to it is also the end of the session. */
export function lastTurn(log: Log, dependencies: Dependencies, { signal, patienceMs }: Ending): Log {
  const { family, hooks, reservations = new Map() } = dependencies;
  let isTold = false;
  return {
    state: log.state,
    async write(...records) {
      const ended = records.find(({ type }) => type === "turn.ended");
      if (ended?.type === "turn.ended" && !isTold) {
        isTold = true;
        await family?.end();
        const patience = signal.aborted ? AbortSignal.timeout(patienceMs) : signal;
        await hooks?.endSession(ended.end, { ...dependencies, log, signal: patience, reservations });
      }
      return log.write(...records);
    },
  };
}

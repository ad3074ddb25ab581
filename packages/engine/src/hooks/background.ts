// Async hooks: the turn does not wait for them, a few run at a time, and none outlives the turn.
import type { ThreadRecord } from "@agentcli/protocol";
import type { Log } from "../log/log.ts";
import { withoutHalt } from "./notes.ts";
import type { HookResults } from "./run-hooks.ts";

const maxConcurrent = 8;

type RunInBackground = (ended: AbortSignal) => Promise<HookResults>;

export interface Background {
  /** Its context reaches the model later, if the turn is still open. */
  start(run: RunInBackground, log: Log): void;
  /** Aborts running hooks; settles when all have ended. */
  end(): Promise<void>;
}

export function openBackground(write: (records: ThreadRecord[], log: Log) => Promise<void>): Background {
  const running = new Set<Promise<void>>();
  let stop = new AbortController();
  const execute = async (run: RunInBackground, log: Log) => {
    while (running.size > maxConcurrent) await Promise.race([...running].slice(0, maxConcurrent));
    const { notes } = await run(stop.signal);
    // The turn did not wait, so there is nothing left to halt.
    if (log.state.turn) await write(notes.map(withoutHalt), log);
  };
  return {
    start(run, log) {
      const work: Promise<void> = execute(run, log).finally(() => running.delete(work));
      // A log that cannot be written is reported by the next write of the thread.
      work.catch(() => {});
      running.add(work);
    },
    async end() {
      stop.abort();
      await Promise.allSettled(running);
      stop = new AbortController();
    },
  };
}

// Hooks nobody waits for: a few at a time, and none of them outlives the turn.
import type { ThreadRecord } from "@agentcli/protocol";
import type { Log } from "../log.ts";
import type { Heard } from "./ask-hooks.ts";
import { withoutHalt } from "./notes.ts";

const mostAtOnce = 8;

export interface Background {
  /** What it says is told to the model later, where the turn still goes on. */
  start(ask: (ended: AbortSignal) => Promise<Heard>, log: Log): void;
  /** Ends what is under way; settles when nothing is. */
  end(): Promise<void>;
}

export function openBackground(write: (records: ThreadRecord[], log: Log) => Promise<void>): Background {
  const under = new Set<Promise<void>>();
  let stop = new AbortController();
  const carryOut = async (ask: (ended: AbortSignal) => Promise<Heard>, log: Log) => {
    while (under.size > mostAtOnce) await Promise.race([...under].slice(0, mostAtOnce));
    const { notes } = await ask(stop.signal);
    // Nobody waited, so nothing can be stopped.
    if (log.state.turn) await write(notes.map(withoutHalt), log);
  };
  return {
    start(ask, log) {
      const work: Promise<void> = carryOut(ask, log).finally(() => under.delete(work));
      // A log that cannot be written is reported by whoever writes to it next.
      work.catch(() => {});
      under.add(work);
    },
    async end() {
      stop.abort();
      await Promise.allSettled(under);
      stop = new AbortController();
    },
  };
}

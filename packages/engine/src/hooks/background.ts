// Hooks nobody waits for: a few at a time, and none of them outlives the turn.
import type { Drive } from "../running.ts";
import type { Heard } from "./ask-hooks.ts";

const mostAtOnce = 8;

export interface Background {
  /** What it says is told to the model later, where the turn still goes on. */
  start(ask: (ended: AbortSignal) => Promise<Heard>, run: Pick<Drive, "log">): void;
  /** Ends what is under way; settles when nothing is. */
  end(): Promise<void>;
}

export function openBackground(): Background {
  const under = new Set<Promise<void>>();
  let stop = new AbortController();
  const carryOut = async (ask: (ended: AbortSignal) => Promise<Heard>, { log }: Pick<Drive, "log">) => {
    while (under.size > mostAtOnce) await Promise.race([...under].slice(0, mostAtOnce));
    const { notes } = await ask(stop.signal);
    const lasting = notes.map((note) => (note.type === "noted" ? { ...note, data: withoutHalt(note.data) } : note));
    if (log.state.turn) await log.write(...lasting);
  };
  return {
    start(ask, run) {
      const work: Promise<void> = carryOut(ask, run).finally(() => under.delete(work));
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

/** Nobody waited, so nothing can be stopped. */
const withoutHalt = <Data extends { halt?: unknown }>({ halt: _, ...data }: Data): Omit<Data, "halt"> => data;

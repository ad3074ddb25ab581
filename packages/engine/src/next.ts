// What comes next, as a pure function of the log: a resumed thread takes the same path as a fresh one.
import type { OpenCall, ThreadState } from "./state.ts";

export type Step =
  | { do: "ask" }
  | { do: "run"; calls: OpenCall[] }
  | { do: "compact" }
  | { do: "end"; message: string | null }
  | { do: "rest" };

export function next(state: ThreadState): Step {
  if (!state.turn) return { do: "rest" };
  if (state.turn.calls.length > 0) return { do: "run", calls: state.turn.calls };
  if (state.turn.final) return { do: "end", message: state.turn.final.message };
  if (isTooLong(state)) return { do: "compact" };
  return { do: "ask" };
}

/** Without a reply since the last summary there is nothing a summary could shorten. */
function isTooLong(state: ThreadState): boolean {
  const compactAt = state.turn?.settings.compactAt;
  return compactAt !== undefined && state.tokens >= compactAt && state.repliesSinceCompaction > 0;
}

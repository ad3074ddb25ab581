// What comes next, as a pure function of the log: a resumed thread takes the same path as a fresh one.
import type { Budget, HookSource } from "@agentcli/protocol";
import { addLedgers, emptyLedger, spentPart } from "./budget.ts";
import type { OpenCall, ThreadState } from "./state.ts";

export type Step =
  | { do: "ask" }
  | { do: "run"; calls: OpenCall[] }
  | { do: "compact" }
  /** The budget is spent: one last request without tools, from what was held back. */
  | { do: "wrap-up"; spent: keyof Budget }
  | { do: "end"; message: string | null }
  /** The wrap-up has been said; its message is no answer to the prompt. */
  | { do: "end-spent"; spent: keyof Budget }
  /** A hook has ended the turn. */
  | { do: "halt"; message: string; hook: HookSource }
  | { do: "rest" };

/** `elsewhere` is what others have spent of the same budget. */
export function next(state: ThreadState, elsewhere = emptyLedger()): Step {
  if (!state.turn) return { do: "rest" };
  const { turn } = state;
  if (turn.hooks.halted) return { do: "halt", ...turn.hooks.halted };
  if (turn.calls.length > 0) return { do: "run", calls: turn.calls };
  if (turn.final && turn.wrappingUp) return { do: "end-spent", spent: turn.wrappingUp };
  if (turn.final) return { do: "end", message: turn.final.message };
  if (turn.compacts) return { do: "compact" };
  const ledger = addLedgers(turn.ledger, elsewhere);
  const spent = turn.wrappingUp ?? spentPart(turn.settings.budget, ledger, state.tokens);
  if (spent) return { do: "wrap-up", spent };
  if (isTooLong(state)) return { do: "compact" };
  return { do: "ask" };
}

/** Without a reply since the last summary there is nothing a summary could shorten. */
function isTooLong(state: ThreadState): boolean {
  const compactAt = state.turn?.settings.compactAt;
  return compactAt !== undefined && state.tokens >= compactAt && state.repliesSinceCompaction > 0;
}

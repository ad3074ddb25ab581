// The next step as a pure function of the log: a resumed thread takes the same path as a fresh one.
import type { Budget, HookSource } from "@agentcli/protocol";
import { addLedgers, emptyLedger, spentPart } from "./budget/ledger.ts";
import type { OpenCall, ThreadState } from "./state/state.ts";

export type Step =
  | { do: "ask" }
  | { do: "run"; calls: OpenCall[] }
  | { do: "compact" }
  /** The budget is used up: one last request without tools, paid from the reserve, in which the model reports. */
  | { do: "wrap-up"; spent: keyof Budget }
  | { do: "end"; message: string | null }
  /** The wrap-up request is done: end the turn as failed. Its message is a report, not an answer to the prompt. */
  | { do: "end-over-budget"; spent: keyof Budget }
  /** A hook has stopped the turn: end it as failed. */
  | { do: "stop-by-hook"; message: string; hook: HookSource }
  /** No turn is open. */
  | { do: "rest" };

/** `others`: what the other agents of the tree have spent of the shared budget. */
export function next(state: ThreadState, others = emptyLedger()): Step {
  if (!state.turn) return { do: "rest" };
  const { turn } = state;
  if (turn.hooks.halted) return { do: "stop-by-hook", ...turn.hooks.halted };
  if (turn.calls.length > 0) return { do: "run", calls: turn.calls };
  if (turn.final && turn.wrappingUp) return { do: "end-over-budget", spent: turn.wrappingUp };
  if (turn.final) return { do: "end", message: turn.final.message };
  if (turn.compacts) return { do: "compact" };
  const ledger = addLedgers(turn.ledger, others);
  const spent = turn.wrappingUp ?? spentPart(turn.settings.budget, ledger, state.tokens);
  if (spent) return { do: "wrap-up", spent };
  if (isTooLong(state)) return { do: "compact" };
  return { do: "ask" };
}

/** False without a reply since the last summary: there is nothing new to summarise. */
function isTooLong(state: ThreadState): boolean {
  const compactAt = state.turn?.settings.compactAt;
  return compactAt !== undefined && state.tokens >= compactAt && state.repliesSinceCompaction > 0;
}

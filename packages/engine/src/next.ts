// The next step as a pure function of the log: a resumed thread takes the same path as a fresh one.
import type { Budget, HookSource } from "@agentcli/protocol";
import { addLedgers, emptyLedger, spentPart } from "./budget/ledger.ts";
import { makesNoProgress } from "./state/call-streak.ts";
import type { OpenCall, ThreadState } from "./state/state.ts";

export type Step =
  | { kind: "request-model" }
  | { kind: "run-calls"; calls: OpenCall[] }
  | { kind: "compact" }
  /** The budget is used up: one last request without tools, paid from the reserve, in which the model reports. */
  | { kind: "wrap-up"; exhaustedLimit: keyof Budget }
  | { kind: "end"; message: string | null }
  /** The wrap-up request is done: end the turn as failed. Its message is a report, not an answer to the prompt. */
  | { kind: "end-over-budget"; exhaustedLimit: keyof Budget }
  /** A hook has stopped the turn: end it as failed. */
  | { kind: "stop-by-hook"; message: string; hook: HookSource }
  /** The newest calls were all rejected or repeated: end the turn as failed. */
  | { kind: "end-without-progress" }
  /** No turn is open. */
  | { kind: "idle" };

/** `others`: what the other agents of the tree have spent of the shared budget. */
export function nextStep(state: ThreadState, others = emptyLedger()): Step {
  if (!state.turn) return { kind: "idle" };
  const { turn } = state;
  if (turn.hooks.halted) return { kind: "stop-by-hook", ...turn.hooks.halted };
  const exhaustedLimit =
    turn.wrappingUp ?? spentPart(turn.settings.budget, addLedgers(turn.ledger, others), state.tokens);
  if (makesNoProgress(turn.streak) && !exhaustedLimit) return { kind: "end-without-progress" };
  if (turn.calls.length > 0) return { kind: "run-calls", calls: turn.calls };
  if (turn.final && turn.wrappingUp) return { kind: "end-over-budget", exhaustedLimit: turn.wrappingUp };
  if (turn.final) return { kind: "end", message: turn.final.message };
  if (turn.compacts) return { kind: "compact" };
  if (exhaustedLimit) return { kind: "wrap-up", exhaustedLimit };
  if (isTooLong(state)) return { kind: "compact" };
  return { kind: "request-model" };
}

/** False without a reply since the last summary: there is nothing new to summarise. */
function isTooLong(state: ThreadState): boolean {
  const compactAt = state.turn?.settings.compactAt;
  return compactAt !== undefined && state.tokens >= compactAt && state.repliesSinceCompaction > 0;
}

// How a turn that cannot go on is closed so that the next can begin.
import type { Outcome, ThreadRecord, TurnEnd } from "@agentcli/protocol";
import { type OpenCall, type ThreadState, textPart } from "./state.ts";

/** Settles every open call for what it is, then ends the turn. */
export function abandonTurn(state: ThreadState, end: Exclude<TurnEnd, { status: "completed" }>): ThreadRecord[] {
  if (!state.turn) return [];
  const { turnId, calls } = state.turn;
  const settled = calls.map(
    (call): ThreadRecord => ({ type: "tool.settled", callId: call.callId, outcome: interrupted(call) }),
  );
  return [...settled, { type: "turn.ended", turnId, end }];
}

/** A call that began and was never settled is neither repeated nor forgotten: the model is told that nobody knows. */
export function interrupted(call: OpenCall): Outcome {
  const text = call.begun ? unknownOutcome : notStarted;
  return { status: "interrupted", parts: [textPart(text)], reason: text, detail: { kind: "none" } };
}

/** Ended by us in the middle: what it had printed is kept, what it reports of itself is not its own doing. */
export function stopped(outcome: Outcome): Outcome {
  const reason = "The run was stopped while this call was in progress.";
  return { ...outcome, status: "interrupted", reason, parts: [textPart(reason), ...outcome.parts] };
}

/** The place itself is gone, perhaps ended by the command; the next call finds another. */
export function lost(why: string): Outcome {
  const text = `The outcome of this call is unknown. ${why} Perhaps a command ended it. Commands run in a new one from now on: processes and files in /tmp are gone. Check the current state before you repeat anything.`;
  return { status: "interrupted", parts: [textPart(text)], reason: text, detail: { kind: "none" } };
}

const unknownOutcome =
  "The outcome of this call is unknown: the run was interrupted while it was in progress. It may have taken effect fully, partly or not at all. Check the current state before you repeat it.";
const notStarted = "This call was not started: the run was interrupted before it began.";

// Closes a turn that cannot continue, so that the next can begin.
import type { Outcome, ThreadRecord, TurnEnd } from "@agentcli/protocol";
import { textPart } from "./state/messages.ts";
import type { OpenCall, ThreadState } from "./state/state.ts";

/** An end other than completion. */
export type AbnormalEnd = Exclude<TurnEnd, { status: "completed" }>;

/** Settles every open call, then ends the turn. */
export function abandonTurn(state: ThreadState, end: AbnormalEnd): ThreadRecord[] {
  if (!state.turn) return [];
  const { turnId, calls } = state.turn;
  const settled = calls.map(
    (call): ThreadRecord => ({ type: "tool.settled", callId: call.callId, outcome: interrupted(call) }),
  );
  return [...settled, { type: "turn.ended", turnId, end }];
}

/** A call that began and was never settled is not repeated: the model learns that its outcome is unknown. */
export function interrupted(call: OpenCall): Outcome {
  const text = call.begun ? unknownOutcome : notStarted;
  return { status: "interrupted", parts: [textPart(text)], reason: text, detail: { kind: "none" } };
}

/** Aborted by us: its output is kept, its own status is not. */
export function stopped(outcome: Outcome): Outcome {
  const reason = "The run was stopped while this call was in progress.";
  return { ...outcome, status: "interrupted", reason, parts: [textPart(reason), ...outcome.parts] };
}

/** The sandbox is gone, perhaps ended by the command; the next call gets a new one. */
export function lost(why: string): Outcome {
  const text = `The outcome of this call is unknown. ${why} Perhaps a command ended it. Commands run in a new one from now on: processes and files in /tmp are gone. Check the current state before you repeat anything.`;
  return { status: "interrupted", parts: [textPart(text)], reason: text, detail: { kind: "none" } };
}

const unknownOutcome =
  "The outcome of this call is unknown: the run was interrupted while it was in progress. It may have taken effect fully, partly or not at all. Check the current state before you repeat it.";
const notStarted = "This call was not started: the run was interrupted before it began.";

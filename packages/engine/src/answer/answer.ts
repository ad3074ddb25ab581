// Checks the final message with the check of the host: accepted, sent back once for correction, or failed.
import type { RecordOf, ThreadRecord, TurnEnd } from "@agentcli/protocol";
import { textPart } from "../state/messages.ts";
import type { ThreadState } from "../state/state.ts";

export interface Answer {
  /** Deterministic. Returns the message in the form users receive, or the reason it is not accepted. */
  check(message: string): Promise<Checked>;
}

export type Checked = { ok: true; message: string } | { ok: false; problem: string };

/** `correct`: the records ask the model to correct its message. */
export type CheckResult = { kind: "ended"; end: TurnEnd } | { kind: "correct"; records: ThreadRecord[] };

/** One correction per turn. The log records the request, so a resumed turn does not get a second one. */
export async function checkFinalMessage(
  message: string | null,
  state: ThreadState,
  answer: Answer | undefined,
): Promise<CheckResult> {
  if (message === null) return ended(noMessage);
  const checked = answer ? await answer.check(message) : ({ ok: true, message } as const);
  if (checked.ok) return ended({ status: "completed", message: checked.message });
  if (state.turn?.repaired) return ended(notMet(checked.problem));
  return { kind: "correct", records: [warning(checked.problem), repairRequest(checked.problem)] };
}

const ended = (end: TurnEnd): CheckResult => ({ kind: "ended", end });

const noMessage: TurnEnd = {
  status: "failed",
  code: "empty",
  message: "The model ended the turn without a final message. Send another prompt to try again.",
};

const notMet = (problem: string): TurnEnd => ({
  status: "failed",
  code: "schema",
  message: `The final message does not satisfy the output schema, even after one correction attempt: ${problem}`,
});

const warning = (problem: string): RecordOf<"noted"> => ({
  type: "noted",
  kind: "warning",
  data: {
    message: `The final message does not satisfy the output schema; the model is asked once to fix it: ${problem}`,
  },
});

const repairRequest = (problem: string): RecordOf<"input.added"> => ({
  type: "input.added",
  origin: "schema",
  input: [
    textPart(
      `Your final message does not satisfy the required output schema: ${problem}\n` +
        "Answer again with the whole corrected message: the JSON value alone, with no text and no code fence around it.",
    ),
  ],
});

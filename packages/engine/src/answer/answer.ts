// The final message held against what the host expects of it: accepted, sent back once to be mended, or given up.
import type { RecordOf, ThreadRecord, TurnEnd } from "@agentcli/protocol";
import { type ThreadState, textPart } from "../state.ts";

export interface Answer {
  /** Says the same of the same message every time. An accepted message comes back as users get it, a refused one with what is wrong in it. */
  check(message: string): Promise<Checked>;
}

export type Checked = { ok: true; message: string } | { ok: false; problem: string };

export type Verdict = { kind: "ended"; end: TurnEnd } | { kind: "repair"; records: ThreadRecord[] };

/** Whether the repair is spent is read from the log: a resumed turn is not repaired twice. */
export async function judgeAnswer(
  message: string | null,
  state: ThreadState,
  answer: Answer | undefined,
): Promise<Verdict> {
  if (message === null) return ended(noMessage);
  const checked = answer ? await answer.check(message) : ({ ok: true, message } as const);
  if (checked.ok) return ended({ status: "completed", message: checked.message });
  if (state.turn?.repaired) return ended(notMet(checked.problem));
  return { kind: "repair", records: [warning(checked.problem), repairRequest(checked.problem)] };
}

const ended = (end: TurnEnd): Verdict => ({ kind: "ended", end });

const noMessage: TurnEnd = {
  status: "failed",
  code: "empty",
  message: "The model ended the turn without a final message.",
};

const notMet = (problem: string): TurnEnd => ({
  status: "failed",
  code: "schema",
  message: `The final message does not satisfy the output schema, also after one repair: ${problem}`,
});

const warning = (problem: string): RecordOf<"noted"> => ({
  type: "noted",
  kind: "warning",
  data: {
    message: `The final message does not satisfy the output schema; the model is asked once to mend it: ${problem}`,
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

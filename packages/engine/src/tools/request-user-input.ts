// Asks the user. Offered only if a user is present.
import type { Outcome, ToolArguments } from "@agentcli/protocol";
import { completed, failed, type ToolContext } from "./tool.ts";

export async function requestUserInput(
  { questions }: ToolArguments["request_user_input"],
  { callId, state, signal, user }: ToolContext,
): Promise<Outcome> {
  const call = { threadId: state.threadId, turnId: state.turn?.turnId ?? "", callId };
  const answers = (await user?.answer(call, questions, signal)) ?? null;
  if (answers === null)
    return failed("There was no answer. Choose the most sensible way yourself and say what you assumed.");
  const entries = Object.entries(answers).map(([id, values]) => [id, { answers: values }]);
  return completed(JSON.stringify({ answers: Object.fromEntries(entries) }));
}

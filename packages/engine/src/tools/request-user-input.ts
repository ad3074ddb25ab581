// Asks the user. Offered only if a user is present.
import { builtIn, completed, failed } from "./tool.ts";

export const requestUserInput = builtIn({
  name: "request_user_input",
  description:
    "Ask the user one to three short questions and wait for the answers. Only when you cannot go on without.",
  onResume: "rerun",
  parallel: false,
  async run({ questions }, { callId, state, signal, user }) {
    const call = { threadId: state.threadId, turnId: state.turn?.turnId ?? "", callId };
    const answers = (await user?.answer(call, questions, signal)) ?? null;
    if (answers === null)
      return failed("There was no answer. Choose the most sensible way yourself and say what you assumed.");
    const entries = Object.entries(answers).map(([id, values]) => [id, { answers: values }]);
    return completed(JSON.stringify({ answers: Object.fromEntries(entries) }));
  },
});

// Puts questions to the person a thread works for. Offered only where somebody is there.
import { builtIn, completed, failed } from "./tool.ts";

export const requestUserInput = builtIn({
  name: "request_user_input",
  description:
    "Ask the user one to three short questions and wait for the answers. Only when you cannot go on without.",
  onResume: "rerun",
  parallel: false,
  async run({ questions }, { callId, state, signal, run }) {
    const place = { threadId: state.threadId, turnId: state.turn?.turnId ?? "", callId };
    const answers = (await run.approver?.answer(place, questions, signal)) ?? null;
    if (answers === null)
      return failed("Nobody answered. Choose the most sensible way yourself and say what you assumed.");
    const given = Object.entries(answers).map(([id, values]) => [id, { answers: values }]);
    return completed(JSON.stringify({ answers: Object.fromEntries(given) }));
  },
});

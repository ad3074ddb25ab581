// A model that lets the agent run one command, `sh test.sh`, and is done once it has its result.
import { replyWith } from "@agentcli/testkit";

export const oneCommand = {
  replies: [
    { ...replyWith("Done."), when: { bodyIncludes: '"call_test"' } },
    {
      calls: [{ name: "exec_command", arguments: { cmd: "sh test.sh", yield_time_ms: 60_000 }, callId: "call_test" }],
    },
  ],
  repeat: "always" as const,
};

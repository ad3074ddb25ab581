// The state of a sub-agent in the form models expect.
import type { AgentState } from "@agentcli/protocol";

export function wireStatus({
  status,
  message,
}: AgentState): string | { completed: string | null } | { errored: string } {
  if (status === "completed") return { completed: message };
  if (status === "errored") return { errored: message ?? "" };
  return status;
}

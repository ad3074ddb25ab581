// How a sub-agent stands, in the words models know.
import type { AgentState } from "@agentcli/protocol";

export function wireStatus({
  status,
  message,
}: AgentState): string | { completed: string | null } | { errored: string } {
  if (status === "completed") return { completed: message };
  if (status === "errored") return { errored: message ?? "" };
  return status;
}

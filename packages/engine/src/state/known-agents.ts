// The sub-agents of a thread according to its log: a resumed thread finds them by these ids.
import type { Outcome, RecordOf } from "@agentcli/protocol";

export interface SubagentRecord {
  closed: boolean;
  /** Its final state has been reported to the model. */
  reported: boolean;
}

export type SubagentRecords = Map<string, SubagentRecord>;

/** The id is in the log before the sub-agent exists. */
export function noteBegun(agents: SubagentRecords, { name, makes }: RecordOf<"tool.begun">): void {
  if (name === "spawn_agent" && makes !== undefined) agents.set(makes, { closed: false, reported: false });
}

export function noteSettled(agents: SubagentRecords, begun: { name: string; makes?: string } | null, outcome: Outcome) {
  const { detail, status } = outcome;
  const wasRefused = status === "failed" || status === "declined";
  if (begun?.name === "spawn_agent" && begun.makes !== undefined && wasRefused) agents.delete(begun.makes);
  if (detail.kind !== "agents") return;
  for (const [id, { status: agentStatus }] of Object.entries(detail.agents)) {
    // Earlier versions recorded the id only here.
    if (agents.has(id) || begun?.name === "spawn_agent")
      agents.set(id, {
        closed: agentStatus === "shutdown",
        reported: agentStatus !== "running" && agentStatus !== "pending_init",
      });
  }
}

export function noteReported(agents: SubagentRecords, ids: string[]): void {
  for (const id of ids) {
    const agent = agents.get(id);
    if (agent) agent.reported = true;
  }
}

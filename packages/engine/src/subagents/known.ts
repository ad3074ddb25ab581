// Which sub-agents a thread has, as its log tells: that is what a resumed thread finds them by.
import type { Outcome, RecordOf } from "@agentcli/protocol";

export interface KnownAgent {
  closed: boolean;
  /** The model has been told how it stands. */
  told: boolean;
}

export type KnownAgents = Map<string, KnownAgent>;

/** Known before it exists: its id is in the log first. */
export function noteBegun(agents: KnownAgents, { name, makes }: RecordOf<"tool.begun">): void {
  if (name === "spawn_agent" && makes !== undefined) agents.set(makes, { closed: false, told: false });
}

export function noteSettled(agents: KnownAgents, begun: { name: string; makes?: string } | null, outcome: Outcome) {
  const { detail, status } = outcome;
  const wasRefused = status === "failed" || status === "declined";
  if (begun?.name === "spawn_agent" && begun.makes !== undefined && wasRefused) agents.delete(begun.makes);
  if (detail.kind !== "agents") return;
  for (const [id, { status: standing }] of Object.entries(detail.agents)) {
    // Earlier versions wrote the id down only here.
    if (agents.has(id) || begun?.name === "spawn_agent")
      agents.set(id, {
        closed: standing === "shutdown",
        told: standing !== "running" && standing !== "pending_init",
      });
  }
}

export function noteTold(agents: KnownAgents, ids: string[]): void {
  for (const id of ids) {
    const known = agents.get(id);
    if (known) known.told = true;
  }
}

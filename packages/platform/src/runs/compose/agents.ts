// The sub-agents a run may have: built in, the repository's, and those given when the agent was made, which win.
import {
  agentTools,
  type Dependencies,
  drive,
  type Family,
  openFamily,
  type Scrub,
  type SessionStore,
  type Tool,
} from "@agentcli/engine";
import { type AgentRole, describeProblem, readAgentRoles } from "@agentcli/project";
import type { TurnSettings } from "@agentcli/protocol";
import type { CustomSubagent } from "@agentcli/protocol/api";
import { version } from "../../version.ts";
import { newId } from "../ids.ts";
import { parameter } from "./turn.ts";

const mostOpen = 6;
/** Sub-agents of the agent itself may have sub-agents; those may not. */
const maxDepth = 2;

export interface AgentsRequest {
  /** Directories of the repositories. */
  roots: string[];
  custom: CustomSubagent[];
  store: SessionStore;
  scrub: Scrub;
  dependenciesFor(settings: TurnSettings): Promise<Dependencies | null>;
}

export interface ComposedAgents {
  family: Family;
  tools: Tool[];
  warnings: string[];
}

export async function composeAgents({ roots, custom, ...options }: AgentsRequest): Promise<ComposedAgents> {
  const found = await Promise.all(roots.map((root) => readAgentRoles({ root, cwd: root, agentHome: null })));
  const roles = new Map(found.flatMap((each) => each.roles).map((role) => [role.name, narrowed(role)]));
  for (const each of custom) roles.set(each.name, { ...roles.get(each.name), ...customRole(each) });
  const all = [...roles.values()];
  const family = openFamily({
    ...options,
    roles: all,
    mostOpen,
    maxDepth,
    newId,
    drive,
    program: { name: "platform", version },
  });
  const warnings = found.flatMap(({ problems }) => problems.map(describeProblem));
  return { family, tools: agentTools(all), warnings };
}

const narrowed = (role: AgentRole): AgentRole => (role.readonly ? { ...role, sandbox: "read-only" } : role);

function customRole({ name, description, prompt, model }: CustomSubagent): AgentRole {
  const selection = typeof model === "string" ? { id: model } : model;
  const effort = parameter(selection, "reasoning_effort");
  return {
    name,
    description,
    instructions: prompt,
    model: selection?.id ?? "inherit",
    ...(effort && { effort }),
    readonly: false,
    source: "request",
  };
}

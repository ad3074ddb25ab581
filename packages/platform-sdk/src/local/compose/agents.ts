// The sub-agents a local run may have: built in, the user's, the project's, and those of the caller, which win.
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
import type { SubagentDefinition } from "../../options.ts";
import { version } from "../../version.ts";
import type { Machine } from "../machine.ts";
import type { Wishes } from "../options.ts";

const mostOpen = 6;
/** Sub-agents of the agent itself may have sub-agents; those may not. */
const maxDepth = 2;

export interface AgentsRequest {
  /** Of the project. */
  root: string;
  cwd: string;
  sources: Wishes["sources"];
  inline: Record<string, SubagentDefinition>;
  machine: Machine;
  store: SessionStore;
  scrub: Scrub;
  dependenciesFor(settings: TurnSettings): Promise<Dependencies | null>;
}

export interface ComposedAgents {
  family: Family;
  tools: Tool[];
  warnings: string[];
}

export async function composeAgents(request: AgentsRequest): Promise<ComposedAgents> {
  const { sources, machine, store, scrub, dependenciesFor } = request;
  const { settingsHome, newId } = machine;
  const place = sources.has("project") ? request : { root: settingsHome, cwd: settingsHome };
  const found = await readAgentRoles({
    root: place.root,
    cwd: place.cwd,
    agentHome: sources.has("user") ? settingsHome : null,
  });
  const roles = new Map(found.roles.map((role) => [role.name, narrowed(role)]));
  for (const [name, agent] of Object.entries(request.inline))
    roles.set(name, { ...roles.get(name), ...inlineRole(name, agent) });
  const all = [...roles.values()];
  const program = { name: "platform-sdk", version };
  const family = openFamily({ store, scrub, dependenciesFor, roles: all, mostOpen, maxDepth, newId, drive, program });
  return { family, tools: agentTools(all), warnings: found.problems.map(describeProblem) };
}

const narrowed = (role: AgentRole): AgentRole => (role.readonly ? { ...role, sandbox: "read-only" } : role);

function inlineRole(name: string, { description, prompt, model }: SubagentDefinition): AgentRole {
  const selection = typeof model === "string" ? { id: model } : model;
  return {
    name,
    description,
    instructions: prompt,
    model: selection?.id ?? "inherit",
    readonly: false,
    source: "request",
  };
}

// The sub-agents a run may have.
import {
  agentTools,
  builtInRoles,
  drive,
  type Family,
  openFamily,
  type SessionStore,
  type Tool,
} from "@agentcli/engine";
import type { AgentsConfig } from "@agentcli/protocol";
import type { Program } from "./program.ts";
import { newId } from "./sessions/thread-id.ts";

const mostOpen = 6;

export function composeAgents(
  config: AgentsConfig = {},
  store: SessionStore,
  program: Program,
): { family: Family | undefined; tools: Tool[] } {
  if (config.enabled === false || config.max_depth === 0) return { family: undefined, tools: [] };
  const roles = builtInRoles;
  const family = openFamily({
    store,
    scrub: program.scrub,
    roles,
    mostOpen: config.max_concurrent_threads_per_session ?? mostOpen,
    defaultModel: config.default_subagent_model,
    defaultEffort: config.default_subagent_reasoning_effort,
    newId: () => newId(Date.now()),
    drive,
    program: { name: "agentcli", version: program.version },
    dependenciesFor: async () => null,
  });
  return { family, tools: agentTools(roles) };
}

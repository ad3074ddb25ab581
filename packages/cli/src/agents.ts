// The sub-agents a run may have.
import {
  agentTools,
  builtInRoles,
  type Dependencies,
  drive,
  type Family,
  openFamily,
  type SessionStore,
  type Tool,
} from "@agentcli/engine";
import type { AgentsConfig, TurnSettings } from "@agentcli/protocol";
import type { Program } from "./program.ts";
import { newId } from "./sessions/thread-id.ts";

const mostOpen = 6;

export interface AgentsHost {
  store: SessionStore;
  program: Program;
  /** What a sub-agent under these settings needs; null for what its parent has. */
  dependenciesFor(settings: TurnSettings): Promise<Dependencies | null>;
}

export function composeAgents(
  config: AgentsConfig = {},
  { store, program, dependenciesFor }: AgentsHost,
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
    dependenciesFor,
  });
  return { family, tools: agentTools(roles) };
}

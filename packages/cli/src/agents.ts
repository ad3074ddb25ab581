// The sub-agents a run may have.
import {
  agentTools,
  type Dependencies,
  drive,
  type Family,
  openFamily,
  type SessionStore,
  type Tool,
  type Watching,
} from "@agentcli/engine";
import { describeProblem, readAgentRoles } from "@agentcli/project";
import type { AgentsConfig, TurnSettings } from "@agentcli/protocol";
import { findRepositoryRoot } from "@agentcli/workspace";
import type { Program } from "./program.ts";
import { newId } from "./sessions/thread-id.ts";

const mostOpen = 6;

export interface AgentsHost {
  cwd: string;
  warn(message: string): void;
  store: SessionStore;
  program: Program;
  /** Told of everything a sub-agent does. */
  watch: ((childId: string) => Watching) | undefined;
  /** What a sub-agent under these settings needs; null for what its parent has. */
  dependenciesFor(settings: TurnSettings): Promise<Dependencies | null>;
}

export async function composeAgents(
  config: AgentsConfig = {},
  { cwd, store, program, warn, watch, dependenciesFor }: AgentsHost,
): Promise<{ family: Family | undefined; tools: Tool[] }> {
  if (config.enabled === false || config.max_depth === 0) return { family: undefined, tools: [] };
  const { agentHome } = program.environment;
  const found = await readAgentRoles({ root: findRepositoryRoot(cwd) ?? cwd, cwd, agentHome });
  for (const problem of found.problems) warn(describeProblem(problem));
  const roles = found.roles.map((role) => (role.readonly ? { ...role, sandbox: "read-only" as const } : role));
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
    ...(watch && { watch }),
  });
  return { family, tools: agentTools(roles) };
}

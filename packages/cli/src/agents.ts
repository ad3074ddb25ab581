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
import { type DeclaredTable, describeProblem, readAgentRoles } from "@agentcli/project";
import type { AgentsConfig, Config, TurnSettings } from "@agentcli/protocol";
import type { Program } from "./program.ts";
import { newId } from "./sessions/thread-id.ts";

const mostOpen = 6;
const maxDepth = 1;

export interface AgentsHost {
  /** A review has no sub-agents. */
  purpose?: "review" | undefined;
  /** Of the project. */
  root: string;
  cwd: string;
  warn(message: string): void;
  store: SessionStore;
  program: Program;
  /** Told of everything a sub-agent does. */
  watch: ((childId: string) => Watching) | undefined;
  /** What a sub-agent under these settings needs; null for what its parent has. */
  dependenciesFor(settings: TurnSettings): Promise<Dependencies | null>;
}

const none = { family: undefined, tools: [] };

export async function composeAgents(
  { agents: config = {}, features }: Pick<Config, "agents" | "features">,
  { purpose, root, cwd, store, program, warn, watch, dependenciesFor }: AgentsHost,
): Promise<{ family: Family | undefined; tools: Tool[] }> {
  const isOff = config.enabled === false || features?.multi_agent === false || config.max_depth === 0;
  if (purpose === "review" || isOff) return none;
  const { agentHome } = program.environment;
  const found = await readAgentRoles({ root, cwd, agentHome, declared: declaredRoles(config) });
  for (const problem of found.problems) warn(describeProblem(problem));
  const roles = found.roles.map((role) => (role.readonly ? { ...role, sandbox: "read-only" as const } : role));
  const family = openFamily({
    store,
    scrub: program.scrub,
    roles,
    mostOpen: config.max_concurrent_threads_per_session ?? config.max_threads ?? mostOpen,
    maxDepth: config.max_depth ?? maxDepth,
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

/** Every key of `[agents]` that holds a table is a role. */
function declaredRoles(config: AgentsConfig): Record<string, DeclaredTable> {
  const isTable = (value: unknown): value is DeclaredTable => typeof value === "object" && value !== null;
  return Object.fromEntries(
    Object.entries(config).filter((entry): entry is [string, DeclaredTable] => isTable(entry[1])),
  );
}

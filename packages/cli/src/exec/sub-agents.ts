// Sub-agents of a run as [agents] configures them.

import { defaultMaxOpen, type Environment, readRoles, type SubagentSettings } from "@agentcli/host";
import type { DeclaredTable, LoadedConfig } from "@agentcli/project";
import type { AgentsConfig } from "@agentcli/protocol";

const defaultMaxDepth = 1;

export interface ConfiguredSubagents {
  /** Null where the run may not have any. */
  subagents: SubagentSettings | null;
  warnings: string[];
}

export async function configuredSubagents(
  { config: { agents: config = {}, features }, project: { root } }: LoadedConfig,
  cwd: string,
  { agentHome }: Environment,
): Promise<ConfiguredSubagents> {
  const isOff = config.enabled === false || features?.multi_agent === false || config.max_depth === 0;
  if (isOff) return { subagents: null, warnings: [] };
  const { roles, warnings } = await readRoles([{ root, cwd, agentHome, declared: declaredRoles(config) }]);
  return {
    subagents: {
      roles,
      maxOpen: config.max_concurrent_threads_per_session ?? config.max_threads ?? defaultMaxOpen,
      maxDepth: config.max_depth ?? defaultMaxDepth,
      defaultModel: config.default_subagent_model,
      defaultEffort: config.default_subagent_reasoning_effort,
      progress: "shown",
    },
    warnings,
  };
}

/** Every key of `[agents]` that holds a table is a role. */
function declaredRoles(config: AgentsConfig): Record<string, DeclaredTable> {
  const isTable = (value: unknown): value is DeclaredTable => typeof value === "object" && value !== null;
  return Object.fromEntries(
    Object.entries(config).filter((entry): entry is [string, DeclaredTable] => isTable(entry[1])),
  );
}

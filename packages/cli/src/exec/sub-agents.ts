// Sub-agents of a run as [agents] configures them.

import { defaultMaxOpen, type Environment, readRoles, type SubagentSettings } from "@agentcli/host";
import type { DeclaredTable, LoadedConfig } from "@agentcli/project";
import type { AgentsConfig } from "@agentcli/protocol";
import { readsOtherTools } from "../config/context.ts";

const defaultMaxDepth = 1;

export interface ConfiguredSubagents {
  /** Null where the run may not have any. */
  subagents: SubagentSettings | null;
  warnings: string[];
}

export async function configuredSubagents(
  loaded: LoadedConfig,
  cwd: string,
  environment: Environment,
): Promise<ConfiguredSubagents> {
  const { agents: config = {}, features } = loaded.config;
  const isOff = config.enabled === false || features?.multi_agent === false || config.max_depth === 0;
  if (isOff) return { subagents: null, warnings: [] };
  const { roles, warnings } = await readRoles([roleSource(loaded, cwd, environment)]);
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

export const roleSource = ({ config, project: { root } }: LoadedConfig, cwd: string, environment: Environment) => ({
  root,
  cwd,
  agentHome: environment.agentHome,
  declared: declaredRoles(config.agents ?? {}),
  ...(readsOtherTools(config) && { otherTools: { userHome: environment.userHome } }),
});

/** Every key of `[agents]` that holds a table is a role. */
function declaredRoles(config: AgentsConfig): Record<string, DeclaredTable> {
  const isTable = (value: unknown): value is DeclaredTable => typeof value === "object" && value !== null;
  return Object.fromEntries(
    Object.entries(config).filter((entry): entry is [string, DeclaredTable] => isTable(entry[1])),
  );
}

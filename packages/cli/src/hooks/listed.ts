// The hooks of this directory and their status, for the commands that show and trust them.

import type { Environment } from "@agentcli/host";
import { findHookFiles, type LoadedConfig, loadConfig, readHookStates } from "@agentcli/project";
import { readHookFiles, type TrustStatus, trustStatus } from "@agentcli/project/hooks";
import type { HookDefinition } from "@agentcli/protocol";
import type { Invocation } from "../command.ts";
import { configRequest, existingDirectory } from "../config/request.ts";
import { configOptions } from "../config/run-options.ts";
import type { Program } from "../program.ts";
import { scriptSearch } from "./script-search.ts";

export interface ListedHook {
  definition: HookDefinition;
  status: TrustStatus;
  enabled: boolean;
}

export async function listHooks(invocation: Invocation, { environment, reporter }: Program): Promise<ListedHook[]> {
  const options = configOptions(invocation);
  const cwd = existingDirectory(options.directory ?? ".", environment.cwd);
  const loaded = await loadConfig(configRequest(options, cwd, environment));
  const { hooks, warnings } = hooksIn(cwd, loaded, environment);
  for (const warning of warnings) reporter.log(`warning: ${warning}`);
  return hooks;
}

/** What a run in this directory would know of. */
export function hooksIn(
  cwd: string,
  loaded: LoadedConfig,
  { agentHome: home, systemDirectory }: Environment,
): { hooks: ListedHook[]; warnings: string[] } {
  const files = findHookFiles({ home, systemDirectory, cwd, loaded });
  const { definitions, warnings } = readHookFiles(files, scriptSearch(cwd, loaded));
  const states = readHookStates(loaded);
  const hooks = definitions.map((definition) => ({
    definition,
    status: trustStatus(definition, { states, hashes: [], bypass: "none" }),
    enabled: states.get(definition.key)?.enabled !== false,
  }));
  return { hooks, warnings: [...loaded.warnings, ...warnings] };
}

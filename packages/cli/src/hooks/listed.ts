// The hooks of this place and how each stands, for the commands that show and trust them.
import { findHookFiles, loadConfig, readHookStates } from "@agentcli/project";
import { readHookFiles, type TrustStatus, trustStatus } from "@agentcli/project/hooks";
import type { HookDefinition } from "@agentcli/protocol";
import type { Invocation } from "../args.ts";
import { configRequest, existingDirectory } from "../config-request.ts";
import type { Program } from "../program.ts";
import { configOptions } from "../run-options.ts";

export interface ListedHook {
  definition: HookDefinition;
  status: TrustStatus;
  enabled: boolean;
}

export async function listHooks(invocation: Invocation, { environment, reporter }: Program): Promise<ListedHook[]> {
  const options = configOptions(invocation);
  const cwd = existingDirectory(options.directory ?? ".", environment.cwd);
  const loaded = await loadConfig(configRequest(options, cwd, environment));
  const { agentHome: home, systemDirectory } = environment;
  const { root } = loaded.project;
  const files = findHookFiles({ home, systemDirectory, cwd, loaded });
  const { definitions, warnings } = readHookFiles(files, { directories: [cwd, root], repository: root });
  for (const warning of [...loaded.warnings, ...warnings]) reporter.say(`warning: ${warning}`);
  const states = readHookStates(loaded);
  return definitions.map((definition) => ({
    definition,
    status: trustStatus(definition, { states, hashes: [], bypass: "none" }),
    enabled: states.get(definition.key)?.enabled !== false,
  }));
}

// `agentcli trust`: from now on a project's own configuration counts.
import { join } from "node:path";
import { loadConfig, trustProject } from "@agentcli/project";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import { configRequest, existingDirectory } from "../../config/request.ts";
import { configOptions } from "../../config/run-options.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, { environment, print }: Program): Promise<number> {
  const directory = existingDirectory(invocation.positionals[0] ?? ".", environment.cwd);
  const { project } = await loadConfig(configRequest(configOptions(invocation), directory, environment));
  const file = join(environment.agentHome, "config.toml");
  await trustProject(file, project.root);
  await print(`Trusted: ${project.root} (in ${file})\n`);
  return exitCodes.completed.code;
}

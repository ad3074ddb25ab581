// The skills of a directory, for commands that look after them.
import { loadConfig, type SkillRoot } from "@agentcli/project";
import type { Config } from "@agentcli/protocol";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { rootsOfSkills } from "./context.ts";
import { configRequest, existingDirectory } from "./request.ts";
import { configOptions } from "./run-options.ts";

export interface SkillsHere {
  roots: SkillRoot[];
  switches: NonNullable<Config["skills"]>["config"];
}

export async function findSkills(invocation: Invocation, { environment }: Program): Promise<SkillsHere> {
  const options = configOptions(invocation);
  const cwd = existingDirectory(options.directory ?? ".", environment.cwd);
  const { config, project } = await loadConfig(configRequest(options, cwd, environment));
  return { roots: rootsOfSkills({ root: project.root, cwd, config }, environment), switches: config.skills?.config };
}

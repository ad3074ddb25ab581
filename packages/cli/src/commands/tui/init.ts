// `agentcli init`: writes an AGENTS.md from what is found in the project.
import { existsSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import { describeProject } from "../../init/describe-project.ts";
import { refuseLinks } from "../../init/refuse-links.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, { environment, print }: Program): Promise<number> {
  const directory = resolve(environment.cwd, invocation.text("cd") ?? ".");
  const path = join(directory, "AGENTS.md");
  if (existsSync(path) && !invocation.has("force"))
    throw new CommandError("usage", `${path} exists. --force writes it anew.`);
  refuseLinks(directory, "AGENTS.md");
  writeFileSync(path, describeProject(directory));
  await print(`Wrote ${path}. Read it, and add what only people know: conventions, and what must not be touched.\n`);
  return exitCodes.completed.code;
}

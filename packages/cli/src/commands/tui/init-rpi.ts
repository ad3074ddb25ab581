// `agentcli init rpi`: writes the skills, agents, hooks and driver of research, plan, implement into a repository.
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import { type ListedHook, listHooks } from "../../hooks/listed.ts";
import { refuseUnpinned, trustListed } from "../../hooks/trust.ts";
import { type Dialect, type RpiFile, rpiCommands, rpiFiles } from "../../init/rpi/files.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const repository = resolve(program.environment.cwd, invocation.text("cd") ?? ".");
  if (!existsSync(join(repository, ".git")))
    throw new CommandError("usage", `${repository} is not the top of a git repository. Create one with: git init`);
  const dialect = (invocation.text("dialect") ?? "agentcli") as Dialect;
  const templates = join(program.directory, "rpi");
  const files = rpiFiles(templates, dialect, repository);
  if (!invocation.has("force")) refuseDifferent(files);
  for (const file of files) write(repository, file);
  await program.print(files.map(({ path, state }) => `${words[state]}  ${path}\n`).join(""));
  for (const { definition } of await trustHooks(invocation, program, rpiCommands(templates, dialect)))
    await program.print(`trusted   ${definition.event} hook ${definition.hash}\n`);
  program.reporter.log('Read the files, commit them, then start with: ./rpi "TASK"');
  return exitCodes.completed.code;
}

const words = { new: "wrote   ", same: "had     ", extended: "extended", different: "replaced" };

function refuseDifferent(files: RpiFile[]): void {
  const different = files.filter(({ state }) => state === "different").map(({ path }) => `  ${path}`);
  if (different.length === 0) return;
  throw new CommandError(
    "usage",
    `Nothing was written: these files exist and say something else.\n${different.join("\n")}\n--force replaces them.`,
  );
}

function write(repository: string, { path, text, isExecutable, state }: RpiFile): void {
  const target = join(repository, path);
  mkdirSync(dirname(target), { recursive: true });
  if (state !== "same") writeFileSync(target, text);
  if (isExecutable) chmodSync(target, 0o755);
}

/** The hooks of this command alone: their definitions and scripts were just written, or compared. */
async function trustHooks(invocation: Invocation, program: Program, commands: string[]): Promise<ListedHook[]> {
  const hooks = (await listHooks(invocation, program)).filter(
    ({ definition, status }) =>
      (status === "untrusted" || status === "modified") &&
      definition.source.kind === "project" &&
      "command" in definition &&
      commands.includes(definition.command),
  );
  refuseUnpinned(hooks);
  await trustListed(hooks, program);
  return hooks;
}

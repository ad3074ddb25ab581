// `agentcli env init`: writes an environment.json that follows from the files of the repository.
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { directoriesThatMatter, proposeEnvironment, type RepositoryFiles } from "@agentcli/project/environment";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { findRepositoryRoot } from "@agentcli/workspace";
import type { Invocation } from "../../command.ts";
import { refuseLinks } from "../../init/refuse-links.ts";
import type { Program } from "../../program.ts";

const file = ".platform/environment.json";
/** A larger one is not read: no file of these kinds is. */
const maxBytes = 1024 * 1024;

export async function run({ has, text }: Invocation, { environment, print }: Program): Promise<number> {
  const directory = resolve(environment.cwd, text("cd") ?? "");
  const root = findRepositoryRoot(directory) ?? directory;
  const { environment: proposed, reasons } = proposeEnvironment(filesOf(root));
  const content = `${JSON.stringify(proposed, null, 2)}\n`;
  if (has("json")) {
    await print(content);
    return exitCodes.completed.code;
  }
  const path = join(root, file);
  if (existsSync(path) && !has("force"))
    throw new CommandError(
      "usage",
      `${path} exists already. Pass --force to write it anew, or --json to see a proposal.`,
    );
  refuseLinks(root, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  await print([`Wrote ${path}.`, ...(reasons.length > 0 ? reasons : ["Nothing to install was found."]), ""].join("\n"));
  return exitCodes.completed.code;
}

const filesOf = (root: string): RepositoryFiles => ({
  paths: directoriesThatMatter.flatMap((directory) => filesIn(root, directory)),
  read(path) {
    const full = join(root, path);
    return lstatSync(full).size > maxBytes ? undefined : readFileSync(full, "utf8");
  },
});

/** Links are left out: one may lead out of the repository. */
function filesIn(root: string, directory: string): string[] {
  const path = join(root, directory);
  if (!existsSync(path) || lstatSync(path).isSymbolicLink()) return [];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => (directory === "." ? name : `${directory}/${name}`));
}

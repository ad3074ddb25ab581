// Finds the test files of a project.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { CommandError } from "@agentcli/command-line";

export const testFolder = ".agentcli/tests";

/** The files named, or all of the project. Throws if there is none. */
export function findCaseFiles(project: string, { cwd, named }: { cwd: string; named: string[] }): string[] {
  if (named.length > 0) return named.flatMap((path) => filesAt(resolve(cwd, path), path));
  const folder = join(project, testFolder);
  const found = existsSync(folder) ? filesIn(folder) : [];
  if (found.length > 0) return found;
  throw new CommandError("usage", `There are no tests: ${folder} has no *.yaml file. See agentcli help test.`);
}

function filesAt(path: string, named: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) throw new CommandError("usage", `The test file ${named} does not exist.`);
  if (!stats.isDirectory()) return [path];
  const found = filesIn(path);
  if (found.length === 0) throw new CommandError("usage", `There are no tests: ${named} has no *.yaml file.`);
  return found;
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .map((name) => join(folder, name));

// The repositories of submodules in a git directory.
import { lstatSync, readdirSync } from "node:fs";
import { below, type DirectoryPath } from "./search.ts";

export const maxModules = 256;

/** Those of their own submodules too. More than the maximum: others may be missing. */
export function modulesIn(gitDirectory: DirectoryPath): DirectoryPath[] {
  const found: DirectoryPath[] = [];
  // Their names may contain slashes.
  const open = [below(gitDirectory, "modules")];
  for (let directory = open.shift(); directory && found.length <= maxModules; directory = open.shift()) {
    const names = directoriesIn(directory);
    const isModule = isFile(below(directory, "HEAD"));
    if (isModule) found.push(directory);
    const inner = isModule ? names.filter((name) => name === "modules") : names;
    for (const name of inner) open.push(below(directory, name));
    // Too many to look at: the caller sees by their number that not all of them are known.
    if (open.length > maxModules) return [...found, ...open];
  }
  return found;
}

export function directoriesIn(directory: DirectoryPath): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch {
    return [];
  }
}

function isFile(path: DirectoryPath): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}

// Lists the files of the repository that the house rules are about.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

export const repositoryRoot = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");

/** Something a rule objects to, as one line for people. */
export type Problem = string;

export interface SourceFile {
  /** Relative to the root, with forward slashes. */
  path: string;
  text: string;
}

const ownFolders = ["packages", "checks", "e2e", "bench", "scripts"];
const foreignFolders = new Set(["node_modules", "dist", "generated", "fixtures"]);

/** Programs that tests bundle for themselves come and go beside us. */
const isForeign = (folder: string): boolean => foreignFolders.has(folder) || folder.startsWith("dist-test-");

/** Files we write by hand, by extension. */
export function readSources(root: string, extensions: RegExp): SourceFile[] {
  return ownFolders
    .flatMap((folder) => listFiles(join(root, folder)))
    .filter((path) => extensions.test(path))
    .map((path) => ({ path: relative(root, path).split(sep).join("/"), text: readFileSync(path, "utf8") }));
}

export function listFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return isForeign(entry.name) ? [] : listFiles(path);
    return entry.isFile() ? [path] : [];
  });
}

/** The package a path lies in and whether it is shipped or a test. */
export function placeOf(path: string): { package: string; isShipped: boolean } | undefined {
  const found = /^packages\/([^/]+)\/(src|bin|test)\//.exec(path);
  return found?.[1] ? { package: found[1], isShipped: found[2] !== "test" } : undefined;
}

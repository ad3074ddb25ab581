// Lists the files of the repository that the project checks are about.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

export const repositoryRoot = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");

/** A violation of a check, as one line for people. */
export type Problem = string;

export interface SourceFile {
  /** Relative to the root, with forward slashes. */
  path: string;
  text: string;
}

const ownFolders = ["packages", "checks", "e2e", "bench", "scripts"];
const foreignFolders = new Set(["node_modules", "dist", "generated", "fixtures"]);

/** Tests create and remove bundles of their own in `dist-test-*`. */
const isForeign = (folder: string): boolean => foreignFolders.has(folder) || folder.startsWith("dist-test-");

/** Files we write by hand, by extension. */
export function readSources(root: string, extensions: RegExp, moreFolders: string[] = []): SourceFile[] {
  return [...ownFolders, ...moreFolders]
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
export function packageOf(path: string): { package: string; isShipped: boolean } | undefined {
  const match = /^packages\/([^/]+)\/(src|bin|test)\//.exec(path);
  return match?.[1] ? { package: match[1], isShipped: match[2] !== "test" } : undefined;
}

// Walks directories by name, without what git ignores and without what only the sandbox put there.
import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errnoOf } from "./fault.ts";
import type { IgnoreRules } from "./gitignore.ts";

/** Children by name; `.` and `..` are not among them. */
export async function readSorted(directory: string): Promise<Dirent[]> {
  const children = await readdir(directory, { withFileTypes: true });
  return children.sort((left, right) => (left.name < right.name ? -1 : 1));
}

/** A subdirectory that is inaccessible, or was just removed, counts as empty. */
export async function readIfAccessible(directory: string): Promise<Dirent[]> {
  try {
    return await readSorted(directory);
  } catch (error) {
    if (inaccessibleCodes.has(errnoOf(error))) return [];
    throw error;
  }
}

export const inaccessibleCodes = new Set<string | undefined>(["EACCES", "EPERM", "ENOENT", "ENOTDIR"]);

export interface Children {
  shown: Dirent[];
  /** Names that git ignores; directories end with a slash. */
  ignored: string[];
}

/** What of `children` is worth showing. */
export async function visibleChildren(directory: string, children: Dirent[], rules: IgnoreRules): Promise<Children> {
  const visible: Children = { shown: [], ignored: [] };
  for (const child of children) {
    const path = join(directory, child.name);
    const isDirectory = child.isDirectory();
    if (child.name === ".git" || (isDirectory && (await isSandboxDirectory(path)))) continue;
    if (rules.ignores(path, isDirectory ? "directory" : "other"))
      visible.ignored.push(child.name + (isDirectory ? "/" : ""));
    else visible.shown.push(child);
  }
  return visible;
}

/**
 * The sandbox covers names that must not be created with empty directories: mounts of their own that cannot be written,
 * on mount points with a mode that no other program uses.
 */
async function isSandboxDirectory(path: string): Promise<boolean> {
  try {
    const { mode, dev } = await stat(path);
    const permissions = mode & 0o7777;
    if (permissions !== 0o1555 && !(permissions === 0o555 && dev !== (await stat(dirname(path))).dev)) return false;
    return (await readdir(path)).length === 0;
  } catch (error) {
    if (inaccessibleCodes.has(errnoOf(error))) return false;
    throw error;
  }
}

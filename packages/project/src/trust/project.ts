// A project is the directory tree around a working directory, up to what marks its top.
import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

export interface Project {
  /** The working directory itself where nothing marks a top. */
  root: string;
  /** The top of the repository a worktree belongs to; the root, where there is only one. */
  mainRoot: string;
}

export function findProject(directory: string, markers: string[]): Project {
  const root = findRoot(directory, markers) ?? directory;
  return { root, mainRoot: findMainRoot(root) ?? root };
}

function findRoot(directory: string, markers: string[]): string | undefined {
  for (let here = directory; ; here = dirname(here)) {
    if (markers.some((marker) => marks(join(here, marker), marker))) return here;
    if (here === dirname(here)) return undefined;
  }
}

/** An empty `.git` directory is no repository, to git neither. */
function marks(path: string, marker: string): boolean {
  if (!existsSync(path)) return false;
  return marker !== ".git" || !statSync(path).isDirectory() || existsSync(join(path, "HEAD"));
}

/** In a worktree `.git` is a file that leads to the git directory, which leads to the one all worktrees share. */
function findMainRoot(root: string): string | undefined {
  const pointer = /^gitdir: (.+)$/m.exec(readText(join(root, ".git")))?.[1];
  if (pointer === undefined) return undefined;
  const gitDirectory = resolve(root, pointer.trim());
  const common = resolve(gitDirectory, readText(join(gitDirectory, "commondir")).trim());
  // The repository must know of the worktree in turn, or any directory could claim to belong to a trusted one.
  const isListed = dirname(gitDirectory) === join(common, "worktrees");
  const pointsBack = resolve(gitDirectory, readText(join(gitDirectory, "gitdir")).trim()) === join(root, ".git");
  return isListed && pointsBack && basename(common) === ".git" ? dirname(common) : undefined;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

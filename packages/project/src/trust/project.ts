// A project is the directory tree around a working directory, up to its project marker.
import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { readUnblocked } from "../files/unblocked.ts";

export interface Project {
  /** The working directory itself where there is no project marker. */
  root: string;
  /** The main checkout of a worktree; otherwise the root. */
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

/** An empty `.git` directory is not a repository, as in git. */
function marks(path: string, marker: string): boolean {
  if (!existsSync(path)) return false;
  return marker !== ".git" || !statSync(path).isDirectory() || existsSync(join(path, "HEAD"));
}

/** In a worktree `.git` is a file with the path of its git directory, which names the shared one. */
function findMainRoot(root: string): string | undefined {
  const pointer = /^gitdir: (.+)$/m.exec(readText(join(root, ".git")))?.[1];
  if (pointer === undefined) return undefined;
  const gitDirectory = resolve(root, pointer.trim());
  const common = resolve(gitDirectory, readText(join(gitDirectory, "commondir")).trim());
  // The repository must list the worktree too, or any directory could claim to belong to a trusted one.
  const isListed = dirname(gitDirectory) === join(common, "worktrees");
  const pointsBack = resolve(gitDirectory, readText(join(gitDirectory, "gitdir")).trim()) === join(root, ".git");
  return isListed && pointsBack && basename(common) === ".git" ? dirname(common) : undefined;
}

function readText(path: string): string {
  try {
    return readUnblocked(path);
  } catch {
    return "";
  }
}

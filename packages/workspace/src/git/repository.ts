// Reads a git repository from its files, without starting git.
import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

export interface GitHead {
  /** Null when HEAD names a commit instead of a branch. */
  branch: string | null;
  /** Null before the first commit. */
  commit: string | null;
}

export interface FoundRepository {
  /** The top of its working tree. */
  root: string;
  gitDirectory: string;
}

/** Of the nearest directory at or above this one that is the top of a working tree. */
export function findRepository(directory: string): FoundRepository | undefined {
  for (let root = resolve(directory); ; root = dirname(root)) {
    const gitDirectory = findGitDirectory(root);
    if (gitDirectory !== undefined) return { root, gitDirectory };
    if (root === dirname(root)) return undefined;
  }
}

export const findRepositoryRoot = (directory: string): string | undefined => findRepository(directory)?.root;

/** The git directory of a working tree: `.git`, or where a `.git` file points. */
export function findGitDirectory(root: string): string | undefined {
  const path = join(root, ".git");
  const directory = isDirectory(path) ? path : readPointer(path, root);
  if (directory === undefined || readText(join(directory, "HEAD")) === undefined) return undefined;
  return directory;
}

/** The directory shared by all working trees; the git directory itself if there is only one. */
export function findCommonDirectory(gitDirectory: string): string {
  const pointer = readText(join(gitDirectory, "commondir"))?.trim();
  return pointer ? resolve(gitDirectory, pointer) : gitDirectory;
}

export function readHead(root: string): GitHead {
  const directory = findGitDirectory(root);
  return directory === undefined ? { branch: null, commit: null } : readHeadIn(directory);
}

/** Of a git directory. */
export function readHeadIn(directory: string): GitHead {
  const head = readText(join(directory, "HEAD"))?.trim() ?? "";
  // What HEAD contains with the reftable format.
  if (head === "ref: refs/heads/.invalid") return { branch: null, commit: null };
  const reference = /^ref: (.+)$/.exec(head)?.[1];
  if (reference === undefined) return { branch: null, commit: asCommit(head) };
  return { branch: reference.replace(/^refs\/heads\//, ""), commit: readReference(directory, reference) };
}

function readReference(gitDirectory: string, reference: string): string | null {
  if (reference.split("/").includes("..")) return null;
  const common = findCommonDirectory(gitDirectory);
  const directories = new Set([gitDirectory, common]);
  const loose = [...directories]
    .map((directory) => readText(join(directory, reference)))
    .find((text) => text !== undefined);
  if (loose !== undefined) return asCommit(loose.trim());
  const packed = readText(join(common, "packed-refs")) ?? "";
  const line = packed.split("\n").find((entry) => entry.endsWith(` ${reference}`));
  return line === undefined ? null : asCommit(line.slice(0, line.indexOf(" ")));
}

const asCommit = (text: string) => (/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(text) ? text : null);

function readPointer(path: string, root: string): string | undefined {
  const target = /^gitdir: (.+)$/m.exec(readText(path) ?? "")?.[1];
  return target === undefined ? undefined : resolve(root, target.trim());
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

const readText = (path: string): string | undefined => readRegularFile(path)?.toString();

const maxFileBytes = 512 * 1024 * 1024;

/** Undefined if there is no readable regular file, or a huge one. Does not block on a FIFO. */
export function readRegularFile(path: string | Buffer): Buffer | undefined {
  // Often there is none, and an error costs more than the question.
  if (!existsSync(path)) return undefined;
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(descriptor);
    return stats.isFile() && stats.size <= maxFileBytes ? readFileSync(descriptor) : undefined;
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

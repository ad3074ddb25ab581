// Tells from names, sizes and times whether the state of a repository has changed, without starting git.
import { createHash, type Hash } from "node:crypto";
import { type BigIntStats, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

export interface GitDirectories {
  /** The git directory of a working tree. */
  gitDirectory: string;
  /** Shared by all working trees of the repository. */
  commonDirectory: string;
}

/** Branches, tags, stash, HEAD, index, and a merge or rebase in progress; not the objects. */
const ownEntries = [
  ...["HEAD", "index", "MERGE_HEAD", "MERGE_MSG", "SQUASH_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD", "ORIG_HEAD"],
  ...["rebase-merge", "sequencer", "config.worktree"],
];
const commonEntries = ["packed-refs", "refs", "reftable", "logs/refs/stash", "config", "info"];

export function fingerprintRepository({ gitDirectory, commonDirectory }: GitDirectories): string {
  const hash = createHash("sha256");
  for (const path of presentIn(gitDirectory, ownEntries)) add(path, hash);
  for (const path of presentIn(commonDirectory, commonEntries)) add(path, hash);
  return hash.digest("base64");
}

/** One listing instead of a look at each: before and after each command, and most of the entries are missing. */
function presentIn(directory: string, entries: string[]): string[] {
  const names = readNames(directory);
  const present = entries.filter((entry) => names?.includes(entry.split("/", 1)[0] ?? "") ?? true);
  return present.map((entry) => join(directory, entry));
}

function add(path: string, hash: Hash): void {
  const stats = lstatIfExists(path);
  if (stats === undefined) return;
  if (stats.isDirectory()) {
    for (const name of readNames(path) ?? []) add(join(path, name), hash);
  } else if (!path.endsWith(".lock")) {
    hash.update(`${path}\0${stats.mtimeNs} ${stats.ctimeNs} ${stats.size} ${stats.ino}\0`);
  }
}

function lstatIfExists(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Undefined if they cannot be read. */
function readNames(directory: string): string[] | undefined {
  try {
    return readdirSync(directory).sort();
  } catch {
    return undefined;
  }
}

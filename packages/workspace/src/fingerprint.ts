// Tells from names, sizes and times whether the state of a repository has changed, without starting git.
import { lstatSync, readdirSync, type Stats } from "node:fs";
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

/**
 * Returns the same number, as text, as long as the repository is the same. Called before and after each command, so it lists
 * nothing twice. Not a hash: to load the library for one takes 4 ms of every start of a sandbox.
 */
export function openFingerprint(directories: GitDirectories): () => string {
  let settled: Entry[] | undefined;
  let text = "";
  let revision = 0;
  return () => {
    if (settled?.every(isUnchanged)) return String(revision);
    const entries = listEntries(directories);
    settled = entries.every(isSettled) ? entries : undefined;
    const now = textOf(entries);
    if (now !== text) revision += 1;
    text = now;
    return String(revision);
  };
}

/** What was at a path. */
interface Entry {
  path: string;
  stats: Stats | undefined;
  /** In milliseconds since 1970. */
  seenAt: number;
}

function listEntries({ gitDirectory, commonDirectory }: GitDirectories): Entry[] {
  const entries: Entry[] = [];
  if (gitDirectory === commonDirectory) addPresent(gitDirectory, [...ownEntries, ...commonEntries], entries);
  else {
    addPresent(gitDirectory, ownEntries, entries);
    addPresent(commonDirectory, commonEntries, entries);
  }
  return entries;
}

/** One listing instead of a look at each: most of them are missing. */
function addPresent(directory: string, names: string[], entries: Entry[]): void {
  entries.push(entryAt(directory));
  const found = readNames(directory);
  for (const name of names) {
    if (found === undefined || found.includes(name.split("/", 1)[0] ?? "")) addTree(join(directory, name), entries);
  }
}

function addTree(path: string, entries: Entry[]): void {
  const entry = entryAt(path);
  entries.push(entry);
  if (!entry.stats?.isDirectory()) return;
  for (const name of readNames(path) ?? []) addTree(join(path, name), entries);
}

const entryAt = (path: string): Entry => ({ path, seenAt: Date.now(), stats: readStats(path) });

/** Directories count by what is in them: a lock that came and went changes nothing. */
const textOf = (entries: Entry[]): string =>
  entries
    .map(({ path, stats }) =>
      stats === undefined || stats.isDirectory() || path.endsWith(".lock")
        ? ""
        : `${path}\0${stats.mtimeMs} ${stats.ctimeMs} ${stats.size} ${stats.ino}\0`,
    )
    .join("");

function isUnchanged({ path, stats }: Entry): boolean {
  const now = readStats(path);
  if (stats === undefined || now === undefined) return stats === now;
  return (
    stats.mtimeMs === now.mtimeMs && stats.ctimeMs === now.ctimeMs && stats.size === now.size && stats.ino === now.ino
  );
}

/** What is younger may change again within the same tick of the file system's clock. */
const settledAfterMs = 50;

const isSettled = ({ stats, seenAt }: Entry): boolean => stats === undefined || stats.ctimeMs < seenAt - settledAfterMs;

function readStats(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
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

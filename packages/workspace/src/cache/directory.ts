// The directory of each project's cache. What commands have written there is never executed, followed or believed here.
import { createHash } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  type Dirent,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

export interface BuildCache {
  /** The workspace that it belongs to. */
  project: string;
  directory: string;
  bytes: number;
  lastUsed: Date;
}

/** Those that were not used for so long are removed when another one is created. */
const maxUnusedMs = 30 * 24 * 60 * 60 * 1000;

/** Beside what commands can write: only the host writes here. */
const recordIn = (entry: string) => join(entry, "project.json");
const writableIn = (entry: string) => join(entry, "files");

export interface PreparedCache {
  /** Where commands can write. */
  directory: string;
  /** Where they cannot: what has been linked into it. */
  seedRecord: string;
}

/**
 * By the real path of the workspace alone: nothing in it can name the cache of another project. Undefined if it cannot be
 * created, as on a full disk: commands work without it, only slower.
 */
export function prepareCache(base: string, root: string): PreparedCache | undefined {
  const entry = join(base, createHash("sha256").update(root).digest("hex").slice(0, 32));
  try {
    if (lstatSync(entry, { throwIfNoEntry: false }) === undefined) removeUnused(base);
    mkdirSync(base, { recursive: true, mode: 0o700 });
    for (const directory of [entry, writableIn(entry)]) makePrivate(directory);
    writeFileSync(recordIn(entry), JSON.stringify({ project: root }), { mode: 0o600 });
  } catch {
    return undefined;
  }
  return { directory: realpathSync(writableIn(entry)), seedRecord: join(entry, "seed.json") };
}

function makePrivate(directory: string): void {
  const stats = lstatSync(directory, { throwIfNoEntry: false });
  if (stats !== undefined && !stats.isDirectory()) throw new Error(`${directory} is not a directory. Remove it.`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
}

function removeUnused(base: string): void {
  for (const { directory, lastUsed } of entriesOf(base))
    if (Date.now() - lastUsed.getTime() > maxUnusedMs) removeTree(directory);
}

/** Largest first. */
export const listCaches = (base: string): BuildCache[] =>
  entriesOf(base)
    .map((entry) => ({ ...entry, bytes: sizeOf(entry.directory) }))
    .sort((one, other) => other.bytes - one.bytes);

/** Of one project, or all of them. Returns what was removed. */
export function clearCaches(base: string, project?: string): BuildCache[] {
  const chosen = listCaches(base).filter((cache) => project === undefined || cache.project === project);
  for (const { directory } of chosen) removeTree(directory);
  return chosen;
}

function entriesOf(base: string): Omit<BuildCache, "bytes">[] {
  return readEntries(base)
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => readRecord(join(base, name)) ?? []);
}

function readRecord(directory: string): Omit<BuildCache, "bytes"> | undefined {
  try {
    const { project } = JSON.parse(readFileSync(recordIn(directory), "utf8")) as { project: unknown };
    return { project: String(project), directory, lastUsed: lstatSync(recordIn(directory)).mtime };
  } catch {
    return undefined;
  }
}

function readEntries(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Links are counted, not followed. */
function sizeOf(directory: string): number {
  let bytes = 0;
  for (const entry of readEntries(directory)) {
    const path = join(directory, entry.name);
    bytes += entry.isDirectory() ? sizeOf(path) : (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0);
  }
  return bytes;
}

function removeTree(directory: string): void {
  if (process.platform === "linux") {
    removeDirectory(directory);
    return;
  }
  unlock(directory);
  rmSync(directory, { recursive: true, force: true });
}

/** O_PATH, which Node does not name: it opens what cannot be read. */
const pathOnly = 0o10000000;

function removeEntry(path: string, entry: Dirent): void {
  if (entry.isDirectory()) removeDirectory(path);
  else unlessReplaced(() => unlinkSync(path));
}

/**
 * By descriptors: a command of a run may put a link in the position of a directory at any moment. Go makes its directories
 * read-only.
 */
function emptyDirectory(directory: string): void {
  const descriptor = openSync(directory, pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const held = `/proc/self/fd/${descriptor}`;
    chmodSync(held, 0o700);
    for (const entry of readEntries(held)) removeEntry(join(held, entry.name), entry);
  } finally {
    closeSync(descriptor);
  }
}

function removeDirectory(directory: string): void {
  unlessReplaced(() => {
    emptyDirectory(directory);
    rmdirSync(directory);
  });
}

/** What a command has created or replaced since stays for the next time. */
function unlessReplaced(remove: () => void): void {
  try {
    remove();
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!["ENOENT", "ENOTDIR", "ELOOP", "ENOTEMPTY", "EISDIR"].includes(code)) throw error;
  }
}

function unlock(directory: string): void {
  chmodSync(directory, 0o700);
  for (const entry of readEntries(directory)) if (entry.isDirectory()) unlock(join(directory, entry.name));
}

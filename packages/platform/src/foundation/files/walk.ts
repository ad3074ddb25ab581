// Walks a directory that an agent can change at any moment, by handles: a link is never followed, and names that are not
// text, paths that are too long for the kernel and directories without permissions are reached like all others.
import type { Stats } from "node:fs";
import { type FileHandle, lstat, readdir } from "node:fs/promises";
import { heldPath, openDirectory } from "./open.ts";

export interface TreeEntry {
  /** Not necessarily text. */
  name: Buffer;
  stats: Stats;
  /** A path that the kernel accepts, until the walk continues. */
  address: Buffer;
  /** Length of the path below the root of the walk. */
  pathBytes: number;
  /** Null in the root of the walk. */
  parent: TreeEntry | null;
}

export type Visit =
  /** Set `descend` to false to leave out what a directory contains. */
  | { kind: "entry"; entry: TreeEntry; descend: boolean }
  /** A directory, after everything that it contains. */
  | { kind: "left"; entry: TreeEntry }
  /** What a directory contains could not be read, or not to its end because it was moved. */
  | { kind: "unread"; entry: TreeEntry };

export interface WalkOptions {
  /** What the server is to be allowed to do in each directory: its own user may have removed the permission. */
  access: "read" | "write";
  /** The order in which the entries of a directory are visited. */
  order?(names: Buffer[]): Buffer[];
}

/** Nothing if the root does not exist. It is not visited itself, unless what it contains could not be read. */
export async function* walk(root: string, options: WalkOptions): AsyncGenerator<Visit> {
  const levels: Level[] = [];
  try {
    if (!(await enter(await rootEntry(root), levels, options))) return yield* unreadRoot(root);
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const name = level.names.pop();
      const parent = levels.at(-2);
      if (name !== undefined) yield* visit(await readEntry(level, name), levels, options);
      else if (parent === undefined) return;
      else yield await leave(level, parent, { levels, access: options.access });
    }
  } finally {
    for (const level of levels) await close(level);
  }
}

/** Nothing if it was removed meanwhile. */
async function* unreadRoot(root: string): AsyncGenerator<Visit> {
  const entry = await rootEntry(root);
  if (entry) yield { kind: "unread", entry };
}

/** Below the root of the walk. */
export function pathTo(entry: TreeEntry): Buffer {
  const names: Buffer[] = [];
  for (let at: TreeEntry | null = entry; at?.parent; at = at.parent) names.unshift(slash, at.name);
  return Buffer.concat(names.slice(1));
}

interface Level {
  entry: TreeEntry;
  /** Null while it is too far above the directory that is being read. */
  handle: FileHandle | null;
  identity: Pick<Stats, "dev" | "ino">;
  /** Still to be visited, the next one last. */
  names: Buffer[];
}

/** A tree may be deeper than the number of files that a process can open: only its first and its last levels are. */
const maxOpen = { first: 8, last: 32 };
const slash = Buffer.from("/");

async function* visit(entry: TreeEntry | null, levels: Level[], options: WalkOptions): AsyncGenerator<Visit> {
  if (entry === null) return;
  const found = { kind: "entry" as const, entry, descend: entry.stats.isDirectory() };
  yield found;
  if (found.descend && !(await enter(entry, levels, options))) yield { kind: "unread", entry };
}

async function enter(entry: TreeEntry | null, levels: Level[], { access, order }: WalkOptions): Promise<boolean> {
  const handle = entry && (await openDirectory(entry, access));
  if (!handle) return false;
  const level: Level = { entry, handle, identity: await handle.stat(), names: [] };
  levels.push(level);
  const distant = levels.length - 1 - maxOpen.last;
  if (distant >= maxOpen.first) await close(levels[distant]);
  const names = await readdir(heldPath(handle) ?? entry.address, { encoding: "buffer" }).catch(() => null);
  level.names = (order?.(names ?? []) ?? names ?? []).reverse();
  return names !== null;
}

interface Leaving {
  levels: Level[];
  access: WalkOptions["access"];
}

/** If the directory was moved meanwhile, the walk continues above those that are not open. */
async function leave(level: Level, parent: Level, { levels, access }: Leaving): Promise<Visit> {
  parent.handle ??= await openParent(parent, level, access);
  levels.pop();
  await close(level);
  if (parent.handle) return { kind: "left", entry: { ...level.entry, address: addressOf(parent, level.entry.name) } };
  while (levels.at(-1)?.handle === null) levels.pop();
  return { kind: "unread", entry: parent.entry };
}

/** By way of the directory that is open below it. */
async function openParent({ entry, identity }: Level, below: Level, access: WalkOptions["access"]) {
  const address = heldPath(below.handle) === null ? entry.address : addressOf(below, Buffer.from(".."));
  const handle = await openDirectory({ ...entry, address }, access);
  const found = await handle?.stat();
  if (found?.ino === identity.ino && found.dev === identity.dev) return handle;
  await handle?.close();
  return null;
}

async function close(level: Level | undefined): Promise<void> {
  await level?.handle?.close();
  if (level) level.handle = null;
}

const addressOf = ({ handle, entry }: Level, name: Buffer): Buffer =>
  Buffer.concat([Buffer.from(heldPath(handle) ?? entry.address), slash, name]);

async function rootEntry(root: string): Promise<TreeEntry | null> {
  const address = Buffer.from(root);
  const stats = await lstat(address).catch(isMissing);
  return stats?.isDirectory() ? { name: Buffer.alloc(0), stats, address, pathBytes: 0, parent: null } : null;
}

function isMissing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
  throw error;
}

/** Null if it was removed meanwhile. */
async function readEntry(level: Level, name: Buffer): Promise<TreeEntry | null> {
  const { entry: parent } = level;
  const address = addressOf(level, name);
  const stats = await lstat(address).catch(() => null);
  const pathBytes = parent.pathBytes + (parent.parent ? 1 : 0) + name.length;
  return stats && { name, stats, address, pathBytes, parent };
}

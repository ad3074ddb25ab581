// Which files of the data directory belong in a backup: those that the platform keeps there, and no others.
import { closeSync, lstatSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { FileSection } from "./format.ts";
import { openWithoutLinks, pathOf } from "./open-without-links.ts";

/** Files of the database, of a running server and of the installation. */
const ofThisMachine = /^(?:postgres.*|server\.json.*|server\.log|config\.toml|restoring)$/;

/** Stored as a section of its own, and read before the tables: it must not be ahead of them. */
export const auditHeadFile = "audit-head";

const allowed = {
  directory: /^(?:(?:artifacts|handoffs|mirrors|repositories|workspaces)(?:\/.*)?|ssh)$/s,
  file: /^(?:(?:artifacts|handoffs|mirrors|repositories|workspaces)\/.*|ssh\/(?:id|known_hosts)[^/]*|signing-key[^/]*)$/s,
  link: /^(?:artifacts|handoffs|mirrors|repositories|workspaces)\/.*$/s,
};

export const isAllowed = ({ kind, path }: FileSection): boolean => allowed[kind].test(path);

/** In an unsealed backup they would let a reader sign and log in as the platform. */
export const isPrivateKey = ({ path }: FileSection): boolean => /^(?:signing-key.*|ssh\/id.*)$/s.test(path);

export interface Listing {
  dataDirectory: string;
  /** Never included. */
  kekFile: string;
  /** Whether private keys of the platform are included. */
  keys: "all" | "public";
}

/** Directories come before their contents. */
export function* listFiles({ keys, ...listing }: Listing): Generator<FileSection> {
  const dataDirectory = realpathSync(listing.dataDirectory);
  for (const name of namesIn(dataDirectory))
    for (const entry of entriesAt(dataDirectory, name)) {
      if (isAllowed(entry) && (keys === "all" || !isPrivateKey(entry))) yield entry;
    }
}

/** Names in the data directory that no backup includes, though they may be the operator's. */
export const listOthers = ({ dataDirectory, kekFile }: Listing): string[] =>
  namesIn(realpathSync(dataDirectory)).filter((name) => {
    const entry = entryAt(dataDirectory, name);
    const isOurs = ofThisMachine.test(name) || name.startsWith(auditHeadFile);
    return entry && !isAllowed(entry) && !isOurs && !join(dataDirectory, name).startsWith(kekFile);
  });

function* entriesAt(root: string, path: string): Generator<FileSection> {
  const entry = entryAt(root, path);
  if (entry) yield entry;
  if (entry?.kind !== "directory" || !isAllowed(entry)) return;
  const names = namesIn(join(root, path));
  for (const name of isGit(names) ? forGit(names) : names) {
    if (!isLock(join(path, name))) yield* entriesAt(root, join(path, name));
  }
}

/** Null for what is neither file, directory nor link, or was removed meanwhile. */
function entryAt(root: string, path: string): FileSection | null {
  const fullPath = join(root, path);
  const stats = lstatSync(fullPath, { throwIfNoEntry: false });
  // An agent's file may have set-id bits; they are not restored.
  const mode = (stats?.mode ?? 0) & 0o777;
  if (stats?.isSymbolicLink()) return linkAt(fullPath, path);
  if (stats?.isFile()) return { kind: "file", path, mode };
  return stats?.isDirectory() ? { kind: "directory", path, mode } : null;
}

function linkAt(fullPath: string, path: string): FileSection | null {
  try {
    return { kind: "link", path, target: readlinkSync(fullPath) };
  } catch {
    // It is no longer a link.
    return null;
  }
}

const isGit = (names: string[]): boolean => ["HEAD", "objects", "refs"].every((name) => names.includes(name));

/** Refs before objects: objects are only added, so everything the refs name is still there. */
const forGit = (names: string[]): string[] => [...names.filter((name) => name !== "objects"), "objects"];

/** A lock of a git operation in progress: restored, it would block every later one. */
const isLock = (path: string): boolean => /\.git\/(?:.*\/)?[^/]+\.lock$/.test(path);

/** Empty if the directory was removed or replaced meanwhile. */
function namesIn(directory: string): string[] {
  const opened = openWithoutLinks(directory, "directory");
  if (opened === null) return [];
  try {
    return readdirSync(pathOf(opened, directory)).sort();
  } finally {
    closeSync(opened);
  }
}

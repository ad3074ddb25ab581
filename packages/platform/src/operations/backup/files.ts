// Lists the files of the data directory, without those of this machine or of a running server.
import { lstatSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { Section } from "./archive.ts";

export type Entry = Exclude<Section, { kind: "table" | "sequence" | "kek" }>;

/** The database is backed up as tables; the audit anchor may be ahead of them; configuration belongs to the installation. */
const excluded = /^(?:postgres.*|server\.json.*|server\.log|audit-head.*|config\.toml)$/;

/** In an unsealed backup they would let a reader sign and log in as the platform. */
const privateKeys = /^(?:signing-key.*|ssh\/id.*)$/;

export interface Listing {
  dataDirectory: string;
  /** Never included. */
  kekFile: string;
  /** Whether private keys of the platform are included. */
  keys: "all" | "public";
}

/** Directories come before their contents. */
export function* listFiles({ dataDirectory, kekFile, keys }: Listing): Generator<Entry> {
  for (const name of namesIn(dataDirectory)) {
    const path = join(dataDirectory, name);
    if (excluded.test(name) || path.startsWith(kekFile)) continue;
    for (const entry of entriesAt(dataDirectory, name))
      if (keys === "all" || !privateKeys.test(entry.path)) yield entry;
  }
}

function* entriesAt(root: string, path: string): Generator<Entry> {
  const fullPath = join(root, path);
  const stats = lstatSync(fullPath, { throwIfNoEntry: false });
  const mode = (stats?.mode ?? 0) & 0o7777;
  if (stats?.isSymbolicLink()) yield { kind: "link", path, target: readlinkSync(fullPath) };
  if (stats?.isFile()) yield { kind: "file", path, mode };
  if (!stats?.isDirectory()) return;
  yield { kind: "directory", path, mode };
  const names = namesIn(fullPath);
  for (const name of isGit(names) ? forGit(names) : names) {
    if (!isLock(join(path, name))) yield* entriesAt(root, join(path, name));
  }
}

const isGit = (names: string[]): boolean => ["HEAD", "objects", "refs"].every((name) => names.includes(name));

/** Refs before objects: objects are only added, so everything the refs name is still there. */
const forGit = (names: string[]): string[] => [...names.filter((name) => name !== "objects"), "objects"];

/** A lock of a git operation in progress: restored, it would block every later one. */
const isLock = (path: string): boolean => /\.git\/(?:.*\/)?[^/]+\.lock$/.test(path);

/** Empty if the directory was removed meanwhile. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

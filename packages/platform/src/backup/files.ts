// The data directory as a list of what is in it, without what belongs to this machine or to a running server.
import { lstatSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { Section } from "./archive.ts";

export type Entry = Exclude<Section, { kind: "table" | "sequence" | "kek" }>;

/** The database is backed up as tables; the head of the audit log may be ahead of them; configuration belongs to the place. */
const left = /^(?:postgres.*|server\.json.*|server\.log|audit-head.*|config\.toml)$/;

/** In clear, whoever reads the backup could sign and log in as the platform. */
const privateKeys = /^(?:signing-key.*|ssh\/id.*)$/;

export interface Listing {
  dataDirectory: string;
  /** Never goes along. */
  kekFile: string;
  /** Whether private keys of the platform go along. */
  keys: "all" | "public";
}

/** Directories before what is in them. */
export function* listFiles({ dataDirectory, kekFile, keys }: Listing): Generator<Entry> {
  for (const name of namesIn(dataDirectory)) {
    const path = join(dataDirectory, name);
    if (left.test(name) || path.startsWith(kekFile)) continue;
    for (const entry of entriesAt(dataDirectory, name))
      if (keys === "all" || !privateKeys.test(entry.path)) yield entry;
  }
}

function* entriesAt(root: string, path: string): Generator<Entry> {
  const whole = join(root, path);
  const found = lstatSync(whole, { throwIfNoEntry: false });
  const mode = (found?.mode ?? 0) & 0o7777;
  if (found?.isSymbolicLink()) yield { kind: "link", path, target: readlinkSync(whole) };
  if (found?.isFile()) yield { kind: "file", path, mode };
  if (!found?.isDirectory()) return;
  yield { kind: "directory", path, mode };
  const names = namesIn(whole);
  for (const name of isGit(names) ? forGit(names) : names) {
    if (!isLock(join(path, name))) yield* entriesAt(root, join(path, name));
  }
}

const isGit = (names: string[]): boolean => ["HEAD", "objects", "refs"].every((name) => names.includes(name));

/** Objects are only added: whatever the branches name when they are read is there when the objects are. */
const forGit = (names: string[]): string[] => [...names.filter((name) => name !== "objects"), "objects"];

/** Of a change of a git directory that is under way now: left behind, it would bar every later one. */
const isLock = (path: string): boolean => /\.git\/(?:.*\/)?[^/]+\.lock$/.test(path);

/** What is removed while we look is gone. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

// A directory of files that is there whole or not at all, after a full disk, a kill or a power cut too.
import { randomUUID } from "node:crypto";
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { makePrivateDirectory } from "@agentcli/host/private-directory";

export interface PackedFile {
  path: string;
  mode: number;
}

export interface Packed {
  /** Has one directory for each build. */
  programs: string;
  /** Of the build. */
  digest: string;
  list(): PackedFile[];
  read(path: string): Uint8Array;
}

/** Longer than unpacking takes on the slowest disk. */
const staleDraftMs = 3_600_000;

/** The directory with the files. */
export function unpackFiles(packed: Packed): string {
  const { programs, digest } = packed;
  const directory = join(programs, digest);
  if (isUnpacked(directory)) return directory;
  const draft = join(programs, `${digest}.${randomUUID()}`);
  try {
    makePrivateDirectory(programs);
    removeStaleDrafts(programs);
    writeFiles(draft, packed);
    rename(draft, directory);
    sync(programs);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw new Error(
      `The program cannot be unpacked into ${programs}: ${(error as Error).message}. Make room there, or set AGENT_HOME to another directory.`,
    );
  }
  return directory;
}

/** What others could have written is not run. */
function isUnpacked(directory: string): boolean {
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (!found) return false;
  const isOwn = found.isDirectory() && found.uid === process.geteuid?.() && (found.mode & 0o022) === 0;
  if (!isOwn) throw new Error(`${directory} could be changed by other users. Remove it and start again.`);
  return true;
}

/** Of processes that were killed; those of running ones are younger. */
function removeStaleDrafts(programs: string): void {
  for (const name of readdirSync(programs).filter((each) => each.includes("."))) {
    const path = join(programs, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found && Date.now() - found.mtimeMs > staleDraftMs) rmSync(path, { recursive: true, force: true });
  }
}

/** On the disk before they get their name: the contents of a file could be missing after a power cut otherwise. */
function writeFiles(directory: string, { list, read }: Packed): void {
  mkdirSync(directory, { mode: 0o700 });
  const folders = new Set([directory]);
  const files = list();
  for (const { path, mode } of files) {
    const target = join(directory, path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    for (let folder = dirname(target); folder !== directory; folder = dirname(folder)) folders.add(folder);
    writeFileSync(target, read(path), { flag: "wx", mode: 0o600 });
    chmodSync(target, mode);
  }
  for (const { path } of files) sync(join(directory, path));
  for (const folder of folders) sync(folder);
}

function sync(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Another process may have been first: its files are the same. */
function rename(draft: string, directory: string): void {
  try {
    renameSync(draft, directory);
  } catch (error) {
    if (!isUnpacked(directory)) throw error;
    rmSync(draft, { recursive: true, force: true });
  }
}

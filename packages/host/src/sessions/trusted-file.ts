// Session files decide what a resumed thread may do: only those that this user alone can write are believed.
import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats } from "node:fs";
import { basename, dirname } from "node:path";
import { othersCanWrite } from "@agentcli/workspace";
import { HostError } from "../host-error.ts";

/** Opens it for reading; the caller closes the descriptor. Throws HostError for one that is not to be believed. */
export function openTrusted(path: string): number {
  checkDirectories(path);
  const file = openUnlinked(path);
  try {
    check(path, fstatSync(file));
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** Before a file is created or continued there. Directories that do not exist yet are created as private ones. */
export function checkDirectories(path: string): void {
  for (const directory of directoriesOf(path)) {
    const stats = statsOf(directory);
    if (stats) check(directory, stats);
  }
}

/** Undefined where a file cannot be opened or created either: that attempt has the better message. */
function statsOf(directory: string): Stats | undefined {
  try {
    return lstatSync(directory);
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

/** Those below the agent home. The home itself is the user's choice, and may be a link. */
function directoriesOf(path: string): string[] {
  const directories: string[] = [];
  for (let directory = dirname(path); directory !== dirname(directory); directory = dirname(directory)) {
    directories.push(directory);
    if (/^(archived_)?sessions$/.test(basename(directory))) return directories;
  }
  return [dirname(path)];
}

/** Does not block on a FIFO. */
function openUnlinked(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const isLink = ["ELOOP", "EMLINK"].includes((error as NodeJS.ErrnoException).code ?? "");
    throw isLink ? refused(path, "is a symbolic link") : error;
  }
}

function check(path: string, stats: Stats): void {
  if (stats.isSymbolicLink()) throw refused(path, "is a symbolic link");
  if (process.geteuid !== undefined && stats.uid !== process.geteuid()) throw refused(path, "belongs to another user");
  if (othersCanWrite(stats)) throw refused(path, "can be written by other users");
}

const refused = (path: string, why: string): HostError =>
  new HostError(
    "usage",
    `${path} ${why}, so its sessions are not used: they decide what a thread may do. Move it away, or make it a file or directory of yours that only you can write (chmod go-w).`,
  );

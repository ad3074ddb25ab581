// Session files decide what a resumed thread may do: only those that this user alone can write are believed.
import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { othersCanReplace, othersCanWrite } from "@agentcli/workspace";
import { HostError } from "../host-error.ts";

/** Opens it for reading; the caller closes the descriptor. Throws HostError for one that is not to be believed. */
export function openTrusted(path: string): number {
  checkDirectories(path);
  return openOwnFile(path);
}

/** The same, whatever directory it is in. */
export function openOwnFile(path: string): number {
  const file = openUnlinked(path);
  try {
    const stats = fstatSync(file);
    check(path, stats);
    if (!stats.isFile()) throw refused(path, "is not a regular file");
    // A process that can write the file by another name, such as an agent in its workspace, writes this one.
    if (stats.nlink > 1) throw refused(path, "has another name (a hard link)");
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** Before a file is created or continued there. Directories that do not exist yet are created as private ones. */
export function checkDirectories(path: string): void {
  const directories = directoriesOf(path);
  for (const directory of directories) {
    const stats = statsOf(directory, lstatSync);
    if (stats) check(directory, stats);
  }
  const top = directories.at(-1) ?? "";
  if (isSessions(top)) checkHome(dirname(top));
}

const isSessions = (directory: string): boolean => /^(archived_)?sessions$/.test(basename(directory));

/** The agent home is the user's choice, and may be a link; but users who can write it could exchange what is in it. */
function checkHome(home: string): void {
  const stats = statsOf(home, statSync);
  if (stats && othersCanReplace(home, stats)) throw refused(home, "can be written by other users");
}

/** Undefined where a file cannot be opened or created either: that attempt has the better message. */
function statsOf(directory: string, read: (path: string) => Stats): Stats | undefined {
  try {
    return read(directory);
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

/** Those below the agent home. */
function directoriesOf(path: string): string[] {
  const directories: string[] = [];
  for (let directory = dirname(path); directory !== dirname(directory); directory = dirname(directory)) {
    directories.push(directory);
    if (isSessions(directory)) return directories;
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
  if (othersCanWrite(path, stats)) throw refused(path, "can be written by other users");
}

const refused = (path: string, why: string): HostError =>
  new HostError(
    "usage",
    `${path} ${why}, so its sessions are not used: they decide what a thread may do. Move it away, or make it a file or directory of yours that only you can write (chmod go-w) and that has no second name (cp FILE FILE.new && mv FILE.new FILE).`,
  );

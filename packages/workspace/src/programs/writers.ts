// Who can change what a path names: the entry itself, or a directory above that decides what the name stands for.
import { lstatSync, readFileSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { listedWriters } from "./access-list.ts";

/** True if only this user and root can. The path must exist, and be absolute and without symbolic links. */
export function onlyUserCanChange(path: string): boolean {
  const stats = lstatSync(path);
  return isOwn(stats) && !othersCanWrite(path, stats) && directoriesAreSafe(dirname(path));
}

function directoriesAreSafe(directory: string): boolean {
  const stats = lstatSync(directory);
  if (!isOwn(stats) || othersCanReplace(directory, stats)) return false;
  return directory === dirname(directory) || directoriesAreSafe(dirname(directory));
}

/** In a sticky directory such as /tmp, other users can add entries, but not replace those of this user or root. */
export const othersCanReplace = (path: string, stats: Stats): boolean =>
  othersCanWrite(path, stats) && (stats.mode & 0o1000) === 0;

/** The owner of a directory can replace what is in it, too. */
export const belongsToOther = (stats: Stats): boolean => !isOwn(stats);

/**
 * The private group that many systems give every user does not count. Where there is an access control list, the bit of
 * the group says what anyone whom the list names can do at most.
 */
export const othersCanWrite = (path: string, { mode, gid }: Stats): boolean =>
  (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && (!isOwnGroup(gid) || listLetsOthersWrite(path)));

function listLetsOthersWrite(path: string): boolean {
  const isTrusted = { user: (id: number) => isOwnId(String(id)), group: isOwnGroup };
  return listedWriters(path)?.every(({ kind, id }) => isTrusted[kind](id)) !== true;
}

const isOwn = ({ uid }: Stats): boolean => uid === 0 || uid === process.geteuid?.() || uid === unmappedUser();

let unmapped: number | null | undefined;

/** In a user namespace that maps few users, the files of root have this owner. Null where every user is mapped. */
function unmappedUser(): number | null {
  if (unmapped === undefined) unmapped = readUnmappedUser();
  return unmapped;
}

function readUnmappedUser(): number | null {
  try {
    const mapsEveryUser = /^\s*0\s+0\s+4294967295\s*$/.test(readFileSync("/proc/self/uid_map", "utf8"));
    return mapsEveryUser ? null : Number(readFileSync("/proc/sys/kernel/overflowuid", "utf8"));
  } catch {
    return null;
  }
}

const groups = new Map<number, boolean>();

/** Whether this user and root are its only members, as in the private group that many systems give every user. */
function isOwnGroup(gid: number): boolean {
  const known = groups.get(gid) ?? readIsOwnGroup(gid);
  groups.set(gid, known);
  return known;
}

function readIsOwnGroup(gid: number): boolean {
  try {
    const users = readTable("/etc/passwd");
    const group = readTable("/etc/group").find((entry) => entry[2] === String(gid));
    if (group === undefined) return false;
    const trusted = new Set(users.filter((entry) => isOwnId(entry[2])).map(([name]) => name));
    const members = [
      ...(group[3] ?? "").split(",").filter(Boolean),
      ...users.filter((entry) => entry[3] === String(gid)).map(([name]) => name),
    ];
    return members.every((name) => trusted.has(name));
  } catch {
    return false;
  }
}

const isOwnId = (uid: string | undefined): boolean => uid === "0" || uid === String(process.geteuid?.());

const readTable = (path: string): string[][] =>
  readFileSync(path, "utf8")
    .split("\n")
    .map((line) => line.split(":"));

// Empty directories as mount points for names that must not be created, for as long as a sandbox needs them.
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync } from "node:fs";

/** Marks our mount points: no other program uses this mode. One found later was left by a killed run. */
const mountPointMode = 0o1555;

/** Creates missing ones. Returns those to remove later. */
export function makeMountPoints(paths: string[]): string[] {
  return paths.filter((path) => create(path) === "made");
}

/** Whether a directory is one of ours, of this run or of one that was killed. */
export function isMountPoint(path: string | Buffer): boolean {
  try {
    return (statSync(path).mode & 0o7777) === mountPointMode && readdirSync(path).length === 0;
  } catch {
    return false;
  }
}

/** Removes them, except those another sandbox still mounts: removing one would unmask the name there. */
export function removeMountPoints(paths: string[]): void {
  for (const path of paths) if (isMountPoint(path) && !isMountedSomewhere(path)) remove(path);
}

function create(path: string): "made" | "not-possible" {
  try {
    mkdirSync(path);
    chmodSync(path, mountPointMode);
    return "made";
  } catch (error) {
    if (isErrno(error, "EEXIST") && isMountPoint(path)) return "made";
    // If this process cannot create it, a process inside cannot either.
    if (isErrno(error, "EACCES") || isErrno(error, "EROFS") || isErrno(error, "EPERM")) return "not-possible";
    throw error;
  }
}

function remove(path: string): void {
  try {
    rmdirSync(path);
  } catch (error) {
    if (!isErrno(error, "ENOENT") && !isErrno(error, "ENOTEMPTY")) throw error;
  }
}

function isMountedSomewhere(path: string): boolean {
  const entry = ` ${escapeMount(path)} `;
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return processes.some((pid) => readMounts(pid).includes(entry));
}

function readMounts(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/mountinfo`, "utf8");
  } catch {
    // The process is gone, or belongs to another user.
    return "";
  }
}

/** The kernel escapes these four in octal. */
const escapeMount = (path: string) =>
  path.replace(/[ \t\n\\]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`);

const isErrno = (error: unknown, code: string) => error instanceof Error && "code" in error && error.code === code;

// Empty directories that stand where nothing must come to exist, as long as a sandbox needs them.
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync } from "node:fs";

/** Nobody else makes empty directories of this mode; one found later was left by a run that was killed. */
const ourMode = 0o1555;

/** Makes those that are missing. Returns those that are ours to remove. */
export function makeMountPoints(paths: string[]): string[] {
  return paths.filter((path) => make(path) === "made");
}

/** True of a directory made by us, now or by a run that was killed. */
export function isMountPoint(path: string): boolean {
  try {
    return (statSync(path).mode & 0o7777) === ourMode && readdirSync(path).length === 0;
  } catch {
    return false;
  }
}

/** Removes them, except where another sandbox still stands on one: removing it there would unmask the place. */
export function removeMountPoints(paths: string[]): void {
  for (const path of paths) if (isMountPoint(path) && !isMountedSomewhere(path)) remove(path);
}

function make(path: string): "made" | "not-possible" {
  try {
    mkdirSync(path);
    chmodSync(path, ourMode);
    return "made";
  } catch (error) {
    if (isErrno(error, "EEXIST") && isMountPoint(path)) return "made";
    // Where we cannot make it, what runs inside cannot either.
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
    // Gone meanwhile, or somebody else's.
    return "";
  }
}

/** The kernel writes these four as octal. */
const escapeMount = (path: string) =>
  path.replace(/[ \t\n\\]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`);

const isErrno = (error: unknown, code: string) => error instanceof Error && "code" in error && error.code === code;

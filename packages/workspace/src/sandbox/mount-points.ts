// Empty directories as mount points for names that must not be created, for as long as a sandbox needs them.
import { chmodSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmdirSync, statSync } from "node:fs";

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
  const own = paths.filter(isMountPoint);
  const mounted = own.length === 0 ? "" : readAllMounts();
  for (const path of own) if (!mounted.includes(` ${escapeMount(path)} `)) remove(path);
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

/** Of every mount namespace, once each: most processes share one. */
function readAllMounts(): string {
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const ofNamespace = new Map<string, string>();
  for (const pid of processes) {
    const namespace = namespaceOf(pid);
    if (!ofNamespace.get(namespace)) ofNamespace.set(namespace, readMounts(pid));
  }
  return [...ofNamespace.values()].join("\n");
}

/** Its own name for a process of another user: only its mounts can be read. */
function namespaceOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`);
  } catch {
    return pid;
  }
}

function readMounts(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/mountinfo`, "utf8");
  } catch {
    // The process is gone.
    return "";
  }
}

/** The kernel escapes these four in octal. */
const escapeMount = (path: string) =>
  path.replace(/[ \t\n\\]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`);

const isErrno = (error: unknown, code: string) => error instanceof Error && "code" in error && error.code === code;

// One control group around a sandbox: created, limited, watched and removed. Supports both cgroup versions.
import {
  accessSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { CgroupTree, Controller } from "./cgroup-trees.ts";

export interface Cgroup {
  controller: Controller;
  version: 1 | 2;
  directory: string;
  /** A process joins by writing its pid here. */
  membersFile: string;
  /** How often the limit was reached. */
  timesReached(): number;
  /** Settles once no member is left, or after a timeout: then it is tried again with the next group. */
  remove(timeoutMs?: number): Promise<void>;
}

const namePrefix = "agentcli-";
const defaultTimeoutMs = 10_000;
const pollMs = 10;

/** Undefined if this process may not create groups. */
export function openCgroup(tree: CgroupTree, limit: number, name: string): Cgroup | undefined {
  for (const parent of tree.parents) {
    const directory = create(tree, parent, name);
    if (directory === undefined) continue;
    removeStale(parent);
    removeBusy();
    if (setLimit(tree, directory, limit)) return describe(tree, directory);
    tryRemove(directory);
  }
  return undefined;
}

/** The name contains the pid of its owner. */
export const groupName = (token: string): string => `${namePrefix}${process.pid}-${token}`;

function create({ version, controller }: CgroupTree, parent: string, name: string): string | undefined {
  try {
    // Every group of version 2 can be frozen.
    if (version === 2 && controller !== "freezer") {
      const passedOn = readFileSync(join(parent, "cgroup.subtree_control"), "utf8").trim().split(/\s+/);
      if (!passedOn.includes(controller)) return undefined;
      // Moving a process requires write access here as well.
      accessSync(join(parent, "cgroup.procs"), constants.W_OK);
    }
    mkdirSync(join(parent, name));
    return join(parent, name);
  } catch (error) {
    // Created for another controller before: in version 2 one directory serves all.
    if (isErrno(error, "EEXIST")) return join(parent, name);
    if (isRefusal(error)) return undefined;
    throw error;
  }
}

function setLimit({ version, controller }: CgroupTree, directory: string, limit: number): boolean {
  const [first, ...others] = limitFiles[controller][version].map(({ file, value }) => ({ file, value: value(limit) }));
  if (first === undefined) return true;
  if (!tryWrite(join(directory, first.file), first.value)) return false;
  // Only some systems account for swap.
  for (const { file, value } of others) tryWrite(join(directory, file), value);
  return true;
}

interface LimitFile {
  file: string;
  value(limit: number): string;
}

const limitFiles: Record<Controller, Record<1 | 2, LimitFile[]>> = {
  memory: {
    1: [
      { file: "memory.limit_in_bytes", value: String },
      { file: "memory.memsw.limit_in_bytes", value: String },
    ],
    2: [
      { file: "memory.max", value: String },
      { file: "memory.swap.max", value: () => "0" },
    ],
  },
  pids: { 1: [{ file: "pids.max", value: String }], 2: [{ file: "pids.max", value: String }] },
  cpu: {
    1: [{ file: "cpu.cfs_quota_us", value: (cpus) => String(Math.round(cpus * periodUs)) }],
    2: [{ file: "cpu.max", value: (cpus) => `${Math.round(cpus * periodUs)} ${periodUs}` }],
  },
  freezer: { 1: [], 2: [] },
};

/** The kernel's own default, in microseconds. */
const periodUs = 100_000;

const eventFiles: Record<Controller, Record<1 | 2, { file: string; word: string } | undefined>> = {
  memory: { 1: { file: "memory.oom_control", word: "oom_kill" }, 2: { file: "memory.events", word: "oom_kill" } },
  pids: { 1: { file: "pids.events", word: "max" }, 2: { file: "pids.events", word: "max" } },
  cpu: { 1: undefined, 2: undefined },
  freezer: { 1: undefined, 2: undefined },
};

function describe({ version, controller }: CgroupTree, directory: string): Cgroup {
  const events = eventFiles[controller][version];
  const count = events && openCount(join(directory, events.file), events.word);
  return {
    controller,
    version,
    directory,
    membersFile: join(directory, "cgroup.procs"),
    timesReached: () => count?.read() ?? 0,
    remove(timeoutMs) {
      count?.close();
      return removeGroup(directory, timeoutMs);
    },
  };
}

/** Of this process, and busy for too long. Their names say that their owner is alive, so no other process removes them. */
const busyGroups = new Set<string>();

/** A group is busy until the last zombie in it is reaped. */
export async function removeGroup(directory: string, timeoutMs = defaultTimeoutMs): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!tryRemove(directory)) {
    if (Date.now() >= deadline) return void busyGroups.add(directory);
    await delay(pollMs);
  }
}

function removeBusy(): void {
  for (const directory of busyGroups) if (tryRemove(directory)) busyGroups.delete(directory);
}

/** The file stays open: it is read after each command. */
function openCount(path: string, word: string): { read(): number; close(): void } {
  const bytes = Buffer.alloc(4096);
  let descriptor: number | undefined;
  return {
    read() {
      try {
        descriptor ??= openSync(path, "r");
        const text = bytes.toString("latin1", 0, readSync(descriptor, bytes, 0, bytes.length, 0));
        const line = text.split("\n").find((entry) => entry.startsWith(`${word} `));
        return Number(line?.slice(word.length + 1) ?? 0);
      } catch {
        // Not every kernel counts, and a removed group has no count.
        return 0;
      }
    },
    close() {
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

/** Removes groups left by runs that were killed. */
function removeStale(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(namePrefix) ? Number(/^(\d+)-/.exec(name.slice(namePrefix.length))?.[1]) : Number.NaN;
    if (pid > 0 && !isAlive(pid)) tryRemove(join(parent, name));
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !isErrno(error, "ESRCH");
  }
}

function tryWrite(path: string, value: string): boolean {
  try {
    // Must not create the file: only a real group has it.
    writeFileSync(path, value, { flag: "r+" });
    return true;
  } catch {
    return false;
  }
}

/** True if it no longer exists. */
function tryRemove(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch (error) {
    return isErrno(error, "ENOENT");
  }
}

const refusals = [
  "ENOENT",
  "EACCES",
  "EPERM",
  "EROFS",
  "EBUSY",
  "ENOTSUP",
  "EOPNOTSUPP",
  "ENOSPC",
  "EAGAIN",
  "ENOTDIR",
];
const isRefusal = (error: unknown) => refusals.some((code) => isErrno(error, code));
const isErrno = (error: unknown, code: string) => error instanceof Error && "code" in error && error.code === code;

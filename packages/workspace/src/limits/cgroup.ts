// One control group around a sandbox: made, limited, watched and removed. Speaks both versions of the interface.
import { accessSync, constants, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { CgroupTree, Controller } from "./cgroup-trees.ts";

export interface Cgroup {
  controller: Controller;
  version: 1 | 2;
  /** A process that writes its number here becomes a member. */
  membersFile: string;
  /** How often the limit was met. */
  timesMet(): number;
  /** Once no member is left. */
  remove(): Promise<void>;
}

const namePrefix = "agentcli-";
const removeLimitMs = 2000;
const pollMs = 10;

/** Undefined where we may not make groups. */
export function openCgroup(tree: CgroupTree, limit: number, name: string): Cgroup | undefined {
  for (const place of tree.places) {
    const directory = make(tree, place, name);
    if (directory === undefined) continue;
    sweep(place);
    if (setLimit(tree, directory, limit)) return describe(tree, directory);
    tryRemove(directory);
  }
  return undefined;
}

/** A name that tells whose group it is. */
export const groupName = (token: string): string => `${namePrefix}${process.pid}-${token}`;

function make({ version, controller }: CgroupTree, place: string, name: string): string | undefined {
  try {
    if (version === 2) {
      const passedOn = readFileSync(join(place, "cgroup.subtree_control"), "utf8").trim().split(/\s+/);
      if (!passedOn.includes(controller)) return undefined;
      // Whoever moves a process needs to write here as well.
      accessSync(join(place, "cgroup.procs"), constants.W_OK);
    }
    mkdirSync(join(place, name));
    return join(place, name);
  } catch (error) {
    // Made for another controller a moment ago: in version 2 one directory serves all.
    if (isErrno(error, "EEXIST")) return join(place, name);
    if (isRefusal(error)) return undefined;
    throw error;
  }
}

function setLimit({ version, controller }: CgroupTree, directory: string, limit: number): boolean {
  const [first, ...others] = limitFiles[controller][version].map(({ file, value }) => ({ file, value: value(limit) }));
  if (first === undefined || !tryWrite(join(directory, first.file), first.value)) return false;
  // Swap is accounted for only on some systems.
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
};

const eventFiles: Record<Controller, Record<1 | 2, { file: string; word: string }>> = {
  memory: { 1: { file: "memory.oom_control", word: "oom_kill" }, 2: { file: "memory.events", word: "oom_kill" } },
  pids: { 1: { file: "pids.events", word: "max" }, 2: { file: "pids.events", word: "max" } },
};

function describe({ version, controller }: CgroupTree, directory: string): Cgroup {
  const { file, word } = eventFiles[controller][version];
  return {
    controller,
    version,
    membersFile: join(directory, "cgroup.procs"),
    timesMet: () => readCount(join(directory, file), word),
    async remove() {
      // Busy until the last of the dead has been waited for.
      for (let waited = 0; !tryRemove(directory) && waited < removeLimitMs; waited += pollMs) await delay(pollMs);
    },
  };
}

function readCount(path: string, word: string): number {
  try {
    const line = readFileSync(path, "utf8")
      .split("\n")
      .find((entry) => entry.startsWith(`${word} `));
    return Number(line?.slice(word.length + 1) ?? 0);
  } catch {
    // Not every kernel counts, and a group that is gone counts no more.
    return 0;
  }
}

/** Removes what was left by runs that were killed. */
function sweep(place: string): void {
  for (const name of readdirSync(place)) {
    const pid = name.startsWith(namePrefix) ? Number(/^(\d+)-/.exec(name.slice(namePrefix.length))?.[1]) : Number.NaN;
    if (pid > 0 && !isAlive(pid)) tryRemove(join(place, name));
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
    // Without the flag to create: outside of a real group there is nothing to write.
    writeFileSync(path, value, { flag: "r+" });
    return true;
  } catch {
    return false;
  }
}

/** True when it is gone, whoever removed it. */
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

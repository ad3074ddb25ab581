// Ends a process with everything it started: its group, its session, their children, all processes with its marker, or all
// of a pid namespace.
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { markerName } from "./process-variables.ts";

export interface ProcessTree {
  /** Leaders of sessions, hence of process groups. */
  leaders: number[];
  /** How the value of the marker variable begins. */
  marker: string;
}

const graceMs = 300;
const pollMs = 10;
const maxKillRounds = 20;

/** SIGTERM, 300 ms of grace, SIGKILL. Settles when nothing is left, or nothing that can be ended. */
export async function endProcessTree(tree: ProcessTree): Promise<void> {
  if ((await requestEnd(tree)) === "some") await killProcessTree(tree);
}

/** Again and again, because a process may fork between the look and the kill. */
export async function killProcessTree(tree: ProcessTree): Promise<void> {
  for (let round = 0; round < maxKillRounds; round += 1) {
    if (signalProcessTree(tree, "SIGKILL").length === 0) return;
    await delay(pollMs);
  }
}

/** SIGTERM, and the grace. */
async function requestEnd(tree: ProcessTree): Promise<"none" | "some"> {
  let alive = signalProcessTree(tree, "SIGTERM");
  if (alive.length === 0) return "none";
  for (let waited = 0; alive.length > 0 && waited < graceMs; waited += pollMs) {
    await delay(pollMs);
    alive = alive.filter(isAlive);
  }
  return "some";
}

/**
 * Ends every other process of this pid namespace, also one that has left its group and its environment behind. In one step:
 * a process that forks all the time would outrun a list. Those of the tree get the same grace. Settles when they are gone.
 */
export async function endNamespace(tree: ProcessTree): Promise<void> {
  // The parent is the first process of the namespace; anywhere else this would end processes of the machine.
  if (process.ppid !== 1) throw new Error("The server has no pid namespace of its own.");
  await requestEnd(tree);
  for (let round = 0; round < maxNamespaceRounds && othersAlive(); round += 1) {
    sendSignal(-1, "SIGKILL");
    await delay(Math.min(pollMs * 2 ** round, maxPollMs));
  }
}

/** A process that waits for a disk does not end before the disk answers. */
const maxNamespaceRounds = 100;
const maxPollMs = 100;

const othersAlive = () => (readProcessTable() ?? []).some(({ pid }) => pid !== 1 && pid !== process.pid);

/** Returns the pids that were signalled. */
export function signalProcessTree(tree: ProcessTree, signal: NodeJS.Signals): number[] {
  const members = membersOf(tree);
  // Where there is no /proc the group is all we know.
  if (members === undefined) return tree.leaders.filter((leader) => signalGroup(leader, signal));
  return members.filter((pid) => sendSignal(pid, signal));
}

/** False when there is no such group any more. */
export const signalGroup = (leader: number, signal: NodeJS.Signals | 0): boolean => sendSignal(-leader, signal);

function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (isErrno(error, "ESRCH") || isErrno(error, "EPERM")) return false;
    throw error;
  }
}

function membersOf({ leaders, marker }: ProcessTree): number[] | undefined {
  const table = readProcessTable();
  if (table === undefined) return undefined;
  const led = new Set(leaders);
  const members = new Set<number>();
  for (const row of table) {
    if (row.pid === process.pid) continue;
    if (led.has(row.group) || led.has(row.session) || isMarked(row.pid, marker)) members.add(row.pid);
  }
  for (let before = -1; before !== members.size; ) {
    before = members.size;
    for (const row of table) if (members.has(row.parent)) members.add(row.pid);
  }
  return [...members];
}

interface Row {
  pid: number;
  parent: number;
  group: number;
  session: number;
}

function readProcessTable(): Row[] | undefined {
  let names: string[];
  try {
    names = readdirSync("/proc");
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
  return names.flatMap((name) => (/^\d+$/.test(name) ? readRow(Number(name)) : []));
}

/** Empty for dead processes and zombies. */
function readRow(pid: number): Row[] {
  const stat = readProc(pid, "stat")?.toString("latin1");
  if (stat === undefined) return [];
  // The name in parentheses may hold anything, so fields are counted from behind it.
  const [state, parent, group, session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (state === "Z" || state === "X") return [];
  return [{ pid, parent: Number(parent), group: Number(group), session: Number(session) }];
}

function isMarked(pid: number, marker: string): boolean {
  const variables = readProc(pid, "environ");
  if (variables === undefined) return false;
  const entry = `${markerName}=${marker}`;
  return variables.indexOf(`\0${entry}`) >= 0 || variables.subarray(0, entry.length).equals(Buffer.from(entry));
}

const isAlive = (pid: number) => (process.platform === "linux" ? readRow(pid).length > 0 : signalGroup(pid, 0));

/** Undefined if the process is gone or belongs to another user. */
function readProc(pid: number, file: string): Buffer | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`);
  } catch (error) {
    if (["ENOENT", "ESRCH", "EACCES", "EPERM"].some((code) => isErrno(error, code))) return undefined;
    throw error;
  }
}

const isErrno = (error: unknown, code: string) => error instanceof Error && "code" in error && error.code === code;

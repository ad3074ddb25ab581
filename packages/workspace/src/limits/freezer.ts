// Stops all processes of a control group at once, and lets them go on. Supports both cgroup versions.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const pollMs = 5;
/** A process that waits for a device or a network file system neither stops nor ends until it gets its answer. */
const defaultTimeoutMs = 30_000;

/** Settles when every process is stopped; throws, with all of them running again, if that takes too long. */
export async function freezeGroup(directory: string, timeoutMs = defaultTimeoutMs): Promise<void> {
  const { file, frozen, isFrozen } = controlsOf(directory);
  writeFileSync(join(directory, file), frozen);
  for (const deadline = Date.now() + timeoutMs; !isFrozen(); await delay(pollMs)) {
    if (Date.now() < deadline) continue;
    thawGroup(directory);
    throw new Error(`${processesOf(directory)} could not be frozen within ${timeoutMs} ms: ${waiting}.`);
  }
}

/** No error if the group is gone, or was not frozen. */
export function thawGroup(directory: string): void {
  if (!existsSync(directory)) return;
  const { file, thawed } = controlsOf(directory);
  writeFileSync(join(directory, file), thawed);
}

/** Settles when no process is left in the group. In version 1 a frozen process dies only when it goes on. */
export async function killGroup(directory: string, timeoutMs = defaultTimeoutMs): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (let members = membersOf(directory); members.length > 0; members = membersOf(directory)) {
    if (Date.now() >= deadline)
      throw new Error(`${processesOf(directory)} did not end within ${timeoutMs} ms of SIGKILL: ${waiting}.`);
    for (const pid of members) killIfAlive(pid);
    thawGroup(directory);
    await delay(pollMs);
  }
}

const waiting = "the kernel waits for a device or a file system. See their state with: ps -o pid,stat,wchan,cmd";

const processesOf = (directory: string): string =>
  `The processes ${membersOf(directory).join(", ")} of the control group ${directory}`;

function controlsOf(directory: string) {
  const isFirstVersion = existsSync(join(directory, "freezer.state"));
  const read = (file: string) => readFileSync(join(directory, file), "utf8");
  if (isFirstVersion)
    return {
      file: "freezer.state",
      frozen: "FROZEN",
      thawed: "THAWED",
      isFrozen: () => read("freezer.state").trim() === "FROZEN",
    };
  return {
    file: "cgroup.freeze",
    frozen: "1",
    thawed: "0",
    isFrozen: () => read("cgroup.events").includes("frozen 1"),
  };
}

function membersOf(directory: string): number[] {
  try {
    return readFileSync(join(directory, "cgroup.procs"), "utf8").split("\n").filter(Boolean).map(Number);
  } catch {
    // The group is gone, and so are its processes.
    return [];
  }
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended in between.
  }
}

// Through what memory and the number of processes can be limited on this machine.
import { accessSync, constants, readFileSync } from "node:fs";
import { join } from "node:path";

export type Limits = Record<"memory" | "pids", "cgroup v1" | "cgroup v2" | "rlimit">;

export const findLimits = (): Limits => ({ memory: wayTo("memory"), pids: wayTo("pids") });

const groups = "/sys/fs/cgroup";

/** rlimits are all an ordinary user has; they count per process and per user, not per command. */
function wayTo(controller: keyof Limits): Limits[keyof Limits] {
  if (offeredBelow(groups).includes(controller) && canWrite(groups)) return "cgroup v2";
  return canWrite(join(groups, controller)) ? "cgroup v1" : "rlimit";
}

function offeredBelow(directory: string): string[] {
  try {
    return readFileSync(join(directory, "cgroup.controllers"), "utf8").trim().split(" ");
  } catch {
    return [];
  }
}

function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

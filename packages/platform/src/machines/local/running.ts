// Ends what a record says is running, also when another server started it.
import { setTimeout as delay } from "node:timers/promises";
import { isRunning, type MachineParts } from "@agentcli/workspace";
import { awaitDetached } from "./disk.ts";
import { type RunningRecord, readRunning, removeRunning } from "./records.ts";

const pollMs = 5;
const killTimeoutMs = 30_000;

/** Settles when nothing of it is left; no error if nothing runs. */
export async function endRunning(parts: MachineParts, directory: string): Promise<void> {
  const running = readRunning(directory);
  if (running === undefined) return;
  await killAll(parts, running);
  await awaitDetached(directory);
  for (const group of running.groups) await parts.removeGroup(group);
  removeRunning(directory);
}

/** Whether a process of the machine may be there, or a server that is about to start one. */
export const isActive = ({ main, owner }: RunningRecord): boolean => isRunning(main ?? owner);

async function killAll(parts: MachineParts, { main, freezer }: RunningRecord): Promise<void> {
  if (freezer !== null) await parts.killGroup(freezer);
  for (const deadline = Date.now() + killTimeoutMs; main !== null && isRunning(main); await delay(pollMs)) {
    if (Date.now() >= deadline)
      throw new Error(`Process ${main.pid} of a machine did not end within ${killTimeoutMs} ms of SIGKILL.`);
    try {
      process.kill(main.pid, "SIGKILL");
    } catch {
      // It ended in between.
    }
  }
}

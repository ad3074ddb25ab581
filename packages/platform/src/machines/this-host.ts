// The machines of agents on this host, as the operator sees them.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "../foundation/index.ts";
import { openMachines, providerDirectory } from "./open.ts";
import type { Machine, MachineStats } from "./provider.ts";

export interface MachineReport extends MachineStats {
  id: string;
  state: "stopped" | "running" | "frozen";
}

export async function reportMachines(settings: Settings): Promise<MachineReport[]> {
  if (!existsSync(providerDirectory(settings))) return [];
  const machines = await (await openMachines(settings).provider()).list();
  return Promise.all(
    machines.map(async (machine) => ({ id: machine.id, state: await machine.state(), ...(await machine.stats()) })),
  );
}

/** False if there is no such machine. */
export async function stopMachine(settings: Settings, id: string): Promise<boolean> {
  const machine = await findMachine(settings, id);
  await machine?.stop();
  return machine !== undefined;
}

/** Until the next run of the agent, which says it. */
export function noteRemovedDisk(settings: Settings, id: string, reason: string): void {
  const directory = join(providerDirectory(settings), "removed");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(join(directory, id), reason, { mode: 0o600 });
}

/** What the run says about a disk that was removed; null: none was. */
export function readRemovedDisk(settings: Settings, id: string): string | null {
  try {
    const reason = readFileSync(join(providerDirectory(settings), "removed", id), "utf8");
    return `The disk of this agent's machine was removed, because ${reason}. Its repositories are complete; what it had installed or written outside /workspace is gone.`;
  } catch {
    return null;
  }
}

export const forgetRemovedDisk = (settings: Settings, id: string): void =>
  rmSync(join(providerDirectory(settings), "removed", id), { force: true });

/** Of an agent that was deleted, or archived a while ago, or that is idle. */
export async function removeAgentMachine(settings: Settings, id: string): Promise<void> {
  await (await setAgentMachineAside(settings, id))();
}

/** As `removeAgentMachine`, and quick: the returned function removes what takes long. */
export async function setAgentMachineAside(settings: Settings, id: string): Promise<() => Promise<void>> {
  forgetRemovedDisk(settings, id);
  return (await (await findMachine(settings, id))?.setAside()) ?? (async () => {});
}

/** Without looking for the programs that machines need, where there is none. */
async function findMachine(settings: Settings, id: string): Promise<Machine | undefined> {
  const names = join(providerDirectory(settings), "machines");
  return existsSync(join(names, id, "machine.json")) ? (await openMachines(settings).provider()).find(id) : undefined;
}

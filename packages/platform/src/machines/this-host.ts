// The machines of agents on this host, as the operator sees them.
import { existsSync } from "node:fs";
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

/** Of an agent that was deleted, or archived a while ago. */
export async function removeAgentMachine(settings: Settings, id: string): Promise<void> {
  await (await findMachine(settings, id))?.remove();
}

/** Without looking for the programs that machines need, where there is none. */
async function findMachine(settings: Settings, id: string): Promise<Machine | undefined> {
  const names = join(providerDirectory(settings), "machines");
  return existsSync(join(names, id, "machine.json")) ? (await openMachines(settings).provider()).find(id) : undefined;
}

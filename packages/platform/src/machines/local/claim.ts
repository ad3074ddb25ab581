// Which server runs a machine: one at a time, with the limits that hold for everything inside.
import { ownIdentity } from "@agentcli/workspace";
import { MachineUnavailable } from "../provider.ts";
import { awaitDetached } from "./disk.ts";
import { type Host, machineDirectory } from "./host.ts";
import { claimRunning, type MachineRecord, readMachine, readRunning, removeRunning } from "./records.ts";
import { endRunning, isActive } from "./running.ts";

/** The limits of the machine, the record that it is this server's to run, and what ends both. */
export async function claimLimits(host: Host, record: MachineRecord, fileBytes: number | null) {
  if (readMachine(machineDirectory(host, record.id)) === undefined)
    throw new MachineUnavailable(`Machine ${record.id} does not exist any more.`);
  const { memoryBytes, cpus, processes, temporaryBytes } = record.limits;
  const wanted = { memoryBytes, cpus, processes, temporaryBytes, fileBytes, freezable: true };
  const limits = host.parts.openLimits(wanted);
  const groups = limits.groups.map((group) => group.directory);
  const directory = machineDirectory(host, record.id);
  const freezer = limits.groups.find(({ controller }) => controller === "freezer")?.directory ?? null;
  const claim = { owner: ownIdentity(), groups, freezer };
  try {
    await claimStart(host, record, { ...claim, main: null });
    const release = async () => {
      if (freezer !== null) await host.parts.killGroup(freezer);
      await awaitDetached(directory);
      await limits.close();
      removeRunning(directory);
    };
    return { limits, claim, release };
  } catch (error) {
    await limits.close();
    throw error;
  }
}

/** One server at a time: a record of a dead one is cleaned up first. */
async function claimStart(host: Host, { id }: MachineRecord, claim: Parameters<typeof claimRunning>[1]): Promise<void> {
  const directory = machineDirectory(host, id);
  if (claimRunning(directory, claim)) return;
  const found = readRunning(directory);
  if (found && isActive(found)) throw new MachineUnavailable(`Machine ${id} is running already. Stop it first.`);
  await endRunning(host.parts, directory);
  if (!claimRunning(directory, claim)) throw new MachineUnavailable(`Machine ${id} was started by another server.`);
}

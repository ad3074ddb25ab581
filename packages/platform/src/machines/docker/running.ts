// Runs the container of a machine: one server at a time, from the disk as it is, with the plan of that server.
import { isRunning, ownIdentity } from "@agentcli/workspace";
import { type MachineSpec, MachineUnavailable } from "../provider.ts";
import { containerName, type Holder, killContainer, startHolder } from "./container.ts";
import { prepareContainer } from "./disk.ts";
import { claimRunning, type DockerHost, machineDirectory, readMachine, readRunning, removeRunning } from "./host.ts";

export interface RunningOptions {
  directories: string[];
  kept: string[];
  limits: MachineSpec["limits"];
}

export interface RunningContainer extends Holder {
  name: string;
}

/** Throws MachineUnavailable if it runs already. */
export async function runContainer(
  host: DockerHost,
  spec: MachineSpec,
  { directories, kept, limits }: RunningOptions,
): Promise<RunningContainer> {
  const directory = machineDirectory(host, spec.id);
  await claim(host, spec.id);
  try {
    const name = await prepareContainer(host, spec, { directories, limits });
    const holder = await startHolder(host.engine, name, kept);
    const ended = holder.ended.then((reason) => {
      removeRunning(directory);
      return reason;
    });
    const kill = async () => {
      await holder.kill();
      await ended;
    };
    return { name, ended, kill };
  } catch (error) {
    removeRunning(directory);
    throw error;
  }
}

async function claim(host: DockerHost, id: string): Promise<void> {
  const directory = machineDirectory(host, id);
  if (readMachine(directory) === undefined) throw new MachineUnavailable(`Machine ${id} does not exist any more.`);
  if (claimRunning(directory, ownIdentity())) return;
  const owner = readRunning(directory);
  if (owner && isRunning(owner)) throw new MachineUnavailable(`Machine ${id} is running already. Stop it first.`);
  await endContainer(host, id);
  if (!claimRunning(directory, ownIdentity()))
    throw new MachineUnavailable(`Machine ${id} was started by another server.`);
}

/** Kills what is inside; no error if nothing runs. */
export async function endContainer(host: DockerHost, id: string): Promise<void> {
  await killContainer(host.engine, containerName(host.owner, id));
  removeRunning(machineDirectory(host, id));
}

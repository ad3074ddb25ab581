// What the machines of one daemon share.
import { join } from "node:path";
import type { MachineParts, ProcessIdentity } from "@agentcli/workspace";
import { claimRecord, readRecord, removeRecord, writeRecord } from "../parts/index.ts";
import type { MachineCapabilities, MachineSpec } from "../provider.ts";
import type { Engine } from "./engine.ts";
import type { DockerLayers } from "./layers.ts";
import type { DockerTools } from "./tools.ts";

export interface DockerHost {
  engine: Engine;
  socketPath: string;
  parts: MachineParts;
  /** One directory for each machine. */
  machines: string;
  /** Marks what belongs to this provider. */
  owner: string;
  layers: DockerLayers;
  nodePath: string;
  /** The program of the host that stands for a process in a container. */
  enterProgram: string;
  tools(): Promise<DockerTools>;
  probe(): Promise<Probed>;
}

export interface Probed {
  capabilities: MachineCapabilities;
  /** Who root inside is on the host. */
  firstId: number;
  enforcer: "cgroup-v1" | "cgroup-v2";
}

export const machineDirectory = ({ machines }: Pick<DockerHost, "machines">, id: string): string => join(machines, id);

const files = { machine: "machine.json", running: "running.json" };

interface MachineRecord extends MachineSpec {
  /** It has had a container, and its disk is there. */
  hasDisk?: boolean;
}

export const writeMachine = (directory: string, record: MachineRecord): void =>
  writeRecord(directory, files.machine, record);
export const readMachine = (directory: string) => readRecord<MachineRecord>(directory, files.machine);

/** The record of the server that runs it. False if there is another one. */
export const claimRunning = (directory: string, owner: ProcessIdentity): boolean =>
  claimRecord(directory, files.running, owner);
export const removeRunning = (directory: string): void => removeRecord(directory, files.running);
export const readRunning = (directory: string) => readRecord<ProcessIdentity>(directory, files.running);

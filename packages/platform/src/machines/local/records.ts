// What is written down about a machine: what it is, and what belongs to it while it runs.
import type { ProcessIdentity } from "@agentcli/workspace";
import { claimRecord, readRecord, removeRecord, writeRecord } from "../parts/index.ts";
import type { MachineSpec } from "../provider.ts";

export interface MachineRecord extends MachineSpec {
  /** The first of its user ids on the host; null: the user of the server. */
  firstId: number | null;
  disk: "image" | "directory";
}

export interface RunningRecord {
  /** The server that started it. */
  owner: ProcessIdentity;
  /** The process whose end is the end of the machine; null until it has started. */
  main: ProcessIdentity | null;
  /** Directories of its control groups. */
  groups: string[];
  /** The one that freezes it. */
  freezer: string | null;
}

const files = { machine: "machine.json", running: "running.json" };

export const writeMachine = (directory: string, record: MachineRecord): void =>
  writeRecord(directory, files.machine, record);
export const writeRunning = (directory: string, record: RunningRecord): void =>
  writeRecord(directory, files.running, record);
/** False if another record is there. */
export const claimRunning = (directory: string, record: RunningRecord): boolean =>
  claimRecord(directory, files.running, record);
export const removeRunning = (directory: string): void => removeRecord(directory, files.running);

export const readMachine = (directory: string) => readRecord<MachineRecord>(directory, files.machine);
export const readRunning = (directory: string) => readRecord<RunningRecord>(directory, files.running);

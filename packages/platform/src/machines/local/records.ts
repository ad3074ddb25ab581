// What is written down about a machine: what it is, and what belongs to it while it runs. Complete or not there at all.
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProcessIdentity } from "@agentcli/workspace";
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

export const writeMachine = (directory: string, record: MachineRecord): void => write(directory, files.machine, record);
export const writeRunning = (directory: string, record: RunningRecord): void => write(directory, files.running, record);
/** False if another record is there. */
export function claimRunning(directory: string, record: RunningRecord): boolean {
  const draft = join(directory, `${files.running}.${process.pid}`);
  writeFileSync(draft, JSON.stringify(record), { mode: 0o600 });
  try {
    linkSync(draft, join(directory, files.running));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft);
  }
}

export const removeRunning = (directory: string): void => rmSync(join(directory, files.running), { force: true });

export const readMachine = (directory: string) => read<MachineRecord>(directory, files.machine);
export const readRunning = (directory: string) => read<RunningRecord>(directory, files.running);

function write(directory: string, name: string, record: object): void {
  const draft = join(directory, `${name}.new`);
  writeFileSync(draft, JSON.stringify(record), { mode: 0o600, flush: true });
  renameSync(draft, join(directory, name));
}

/** Undefined if there is none. */
function read<Kind>(directory: string, name: string): Kind | undefined {
  try {
    return JSON.parse(readFileSync(join(directory, name), "utf8")) as Kind;
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

// What a scenario works with: a provider, machines started from it, and commands inside. The platform's own types are
// described again here, because this package must not import them.
import { randomBytes } from "node:crypto";
import type { Duplex, Readable } from "node:stream";
import type { Workspace } from "@agentcli/protocol";

export interface Provider {
  capabilities(): Promise<Capabilities>;
  importBase(archive: Readable): Promise<string>;
  create(spec: { id: string; layers: string[]; limits: Limits }): Promise<Machine>;
  find(id: string): Promise<Machine | undefined>;
  list(): Promise<Machine[]>;
  removeLayers(unused: { keep: string[]; before: number }): Promise<number>;
}

export interface Capabilities {
  obstacle: string | null;
  users: "own-range" | "shared-range" | "single";
  limits: Record<"memory" | "processes" | "cpu" | "disk", "machine" | "process" | "nothing">;
  freeze: "group" | "signals";
}

export interface Machine {
  id: string;
  layers: string[];
  state(): Promise<string>;
  stop(): Promise<void>;
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  snapshot(): Promise<string[]>;
  stats(): Promise<{ memoryBytes: number | null; processes: number | null; diskBytes: number }>;
  remove(): Promise<void>;
}

export interface Limits {
  memoryBytes: number | null;
  cpus: number | null;
  processes: number | null;
  diskBytes: number | null;
  temporaryBytes: number | null;
}

export interface MachineHarness<Each extends Machine = Machine> {
  provider: Provider;
  /** Where the provider keeps its files. */
  directory: string;
  /** Starts a machine; its workspace begins at `/`. */
  start(machine: Each): Promise<Workspace>;
  /** Connects to a port of a machine that was started. */
  dial(machine: Each, port: number): Duplex;
  /** A machine that stays until the end, for scenarios that leave it as it is. */
  shared(): Promise<Workspace>;
}

export type Scenario = (harness: MachineHarness) => Promise<void>;

export const mebibyte = 1024 ** 2;
export const unlimited: Limits = {
  memoryBytes: null,
  cpus: null,
  processes: null,
  diskBytes: null,
  temporaryBytes: null,
};

/** An id, or a word that occurs nowhere else. */
export const newName = (prefix = "m"): string => `${prefix}-${randomBytes(6).toString("hex")}`;

export interface RunResult {
  code: number;
  output: string;
}

/** Runs a shell script to its end. */
export async function sh(workspace: Workspace, script: string): Promise<RunResult> {
  let output = "";
  const result = await workspace.exec(
    { id: newName("sh"), start: { argv: ["/bin/sh", "-c", script] } },
    ({ text }) => {
      output += text;
    },
    new AbortController().signal,
  );
  if (result.state !== "exited") throw new Error(`The script did not run: ${JSON.stringify(result)}`);
  return { code: result.exitCode, output };
}

/** Starts a script that stays; settles once it has printed something. */
export function background(workspace: Workspace, script: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const start = { argv: ["/bin/sh", "-c", script] };
    workspace
      .exec({ id: newName("background"), start }, () => resolve(), new AbortController().signal)
      .then((result) => reject(new Error(`The script ended: ${JSON.stringify(result)}`)), reject);
  });
}

/** Creates and starts a machine, runs the scenario, and removes it. */
export async function withMachine(
  harness: MachineHarness,
  work: (machine: Machine, workspace: Workspace) => Promise<void>,
  { layers = [], limits = unlimited }: { layers?: string[]; limits?: Limits } = {},
): Promise<void> {
  const machine = await harness.provider.create({ id: newName(), layers, limits });
  try {
    await work(machine, await harness.start(machine));
  } finally {
    await machine.remove();
  }
}

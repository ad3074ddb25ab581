// What the machines of one provider share: where things are on this host, and what the host can do.
import { join } from "node:path";
import type { MachineParts } from "@agentcli/workspace";
import type { MachineCapabilities } from "../provider.ts";
import type { Ranges } from "./ids.ts";
import type { Layers } from "./layers.ts";

export interface Host {
  parts: MachineParts;
  /** One directory for each machine. */
  machines: string;
  layers: Layers;
  ranges: Ranges;
  bubblewrap: string;
  nodePath: string;
  serverProgram: string;
  capabilities(): Promise<MachineCapabilities>;
}

/** How this process ends the machines that it has started, by their directory. */
export type LiveMachines = Map<string, () => Promise<void>>;

export const machineDirectory = ({ machines }: Pick<Host, "machines">, id: string): string => join(machines, id);

/** Only root can map the ids of other users. */
export const isRoot = (): boolean => process.geteuid?.() === 0;

// The machines of a server: where they are kept, the provider that makes them, and their limits.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { resourceLimits, sizeBytes } from "@agentcli/host";
import type { Settings, Subject } from "../foundation/index.ts";
import { openDockerProvider } from "./docker/index.ts";
import { hasLayer, openLocalProvider } from "./local/index.ts";
import type { MachineLimits, MachineProvider } from "./provider.ts";

export interface Machines extends Subject {
  /** Opened when it is first used. */
  provider(): Promise<MachineProvider>;
  limits: MachineLimits;
  /** Whether machines can begin with these layers on this host. */
  holds(layers: string[]): boolean;
  /** Disks and layers are here; everything else in it is kept too. */
  directory: string;
}

export const machinesDirectory = ({ dataDirectory }: Pick<Settings, "dataDirectory">): string =>
  join(dataDirectory, "machines");

/** Where the provider of these settings keeps its machines and layers. */
export const providerDirectory = (settings: Pick<Settings, "dataDirectory" | "machines">): string =>
  settings.machines.provider === "docker" ? join(machinesDirectory(settings), "docker") : machinesDirectory(settings);

export function openMachines(settings: Settings): Machines {
  const directory = machinesDirectory(settings);
  const own = providerDirectory(settings);
  let opened: Promise<MachineProvider> | undefined;
  const provider = () => {
    opened ??= openProvider(settings, own);
    return opened;
  };
  // What a killed server left behind goes when the next one starts.
  const collect = async () => {
    if (existsSync(own)) await (await provider()).collect();
    return { stop: async () => {} };
  };
  return {
    provider,
    directory,
    holds: (layers) => layers.every((digest) => hasLayer(join(own, "layers"), digest)),
    limits: machineLimits(settings),
    activities: [{ role: "runner", start: collect }],
  };
}

function openProvider(settings: Settings, directory: string): Promise<MachineProvider> {
  const { provider, dockerSocket } = settings.machines;
  const options = {
    directory,
    path: settings.variables.PATH ?? "",
    serverProgram: join(settings.programDirectory, "workspace-server.cjs"),
  };
  return provider === "docker"
    ? openDockerProvider({ ...options, socketPath: dockerSocket })
    : openLocalProvider(options);
}

const defaults = { memory: "4g", tmp: "2g", disk: "20g" };

function machineLimits({ models: { limits = {} }, machines }: Pick<Settings, "models" | "machines">): MachineLimits {
  const { memory = defaults.memory, tmp = defaults.tmp, disk = defaults.disk, processes: chosen } = limits;
  const { memoryBytes, temporaryBytes, processes } = resourceLimits({
    memory,
    tmp,
    ...(chosen && { processes: chosen }),
  });
  return { memoryBytes, temporaryBytes, processes, cpus: machines.cpus, diskBytes: sizeBytes(disk) };
}

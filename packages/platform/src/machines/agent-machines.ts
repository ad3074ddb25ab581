// The machines of agents: one for each, whose disk is mounted while a run uses it and kept until the agent is removed.
import { Fault, isStorageFull, type Settings } from "../foundation/index.ts";
import { makeMountPoint } from "./mount-point.ts";
import type { Machines } from "./open.ts";
import { DiskLost, MachineUnavailable, type MountedDisk, type PreparedDisk } from "./provider.ts";

export interface MachineChoice {
  provider: "host" | "local" | "docker";
  /** For people. */
  reason: string;
}

export interface AgentMachines {
  /** Throws MachineUnavailable if the configured provider does not work here. */
  choose(): Promise<MachineChoice>;
  /** For a run of the agent with this directory; not with the provider `host`. */
  use(request: MachineRequest): MachineUse;
  /** Unmounts all disks. */
  close(): Promise<void>;
}

export interface MachineRequest {
  /** Also the id of the machine. */
  name: string;
  /** Directories of the host that the agent sees. */
  directories: string[];
  /** Whether an earlier run has used its disk: then it must be there. */
  isKnown: boolean;
  /** What a new disk begins with. */
  base: MachineBase;
}

export interface MachineBase {
  /** Top first. Empty: the system directories of the host. */
  layers: string[];
  prepared: PreparedDisk;
}

export interface MachineUse {
  /** Mounts the disk when first called. Throws MachineFault if the machine was lost. */
  disk(): Promise<MountedDisk>;
  /** Of the disk that there is, or of the one that will be made. */
  prepared(): Promise<PreparedDisk>;
  release(): Promise<void>;
}

/** The machine of an agent is gone, with what ran in it or with its disk. It is not replaced before that was reported. */
export class MachineFault extends Fault {
  override name = "MachineFault";
  readonly code = "machine_lost";
}

interface HeldMachine {
  mounted: Promise<MountedDisk>;
  /** Why it ended although it was not closed. */
  lost?: string;
  idle?: NodeJS.Timeout;
  closed?: Promise<void>;
}

export function openAgentMachines({ machines }: Pick<Settings, "machines">, local: Machines): AgentMachines {
  const held = new Map<string, HeldMachine>();

  function close(name: string, machine: HeldMachine): Promise<void> {
    clearTimeout(machine.idle);
    machine.closed ??= machine.mounted
      .then((disk) => disk.close())
      .catch(() => {})
      .finally(() => held.delete(name));
    return machine.closed;
  }

  function hold(request: MachineRequest): HeldMachine {
    const machine: HeldMachine = { mounted: mount(local, request) };
    held.set(request.name, machine);
    machine.mounted.then(
      async (disk) => {
        const reason = await disk.ended;
        if (machine.closed !== undefined) return;
        machine.lost = reason;
        await close(request.name, machine);
      },
      () => held.delete(request.name),
    );
    return machine;
  }

  /** The one that is mounted still, or a new mount after the end of an earlier one. */
  async function find(request: MachineRequest): Promise<HeldMachine> {
    const existing = held.get(request.name);
    await existing?.closed;
    const machine = held.get(request.name) ?? hold(request);
    clearTimeout(machine.idle);
    return machine;
  }

  return {
    choose: () => choose(machines.provider, local),
    use: (request) => useMachine({ local, find, request, idleMs: machines.idleMs, close }),
    close: async () => void (await Promise.all([...held].map(([name, machine]) => close(name, machine)))),
  };
}

interface UseContext {
  local: Machines;
  request: MachineRequest;
  idleMs: number;
  find(request: MachineRequest): Promise<HeldMachine>;
  close(name: string, machine: HeldMachine): Promise<void>;
}

function useMachine({ local, request, idleMs, find, close }: UseContext): MachineUse {
  let found: Promise<HeldMachine> | undefined;
  return {
    async disk() {
      found ??= find(request);
      const machine = await found;
      if (machine.lost !== undefined) throw lostWhileRunning(machine.lost);
      return machine.mounted.catch((error) => {
        found = undefined;
        throw error;
      });
    },
    async prepared() {
      const existing = await (await local.provider()).find(request.name);
      return existing?.prepared ?? request.base.prepared;
    },
    async release() {
      const machine = await found;
      if (machine) machine.idle = setTimeout(() => void close(request.name, machine), idleMs).unref();
    },
  };
}

async function choose(wanted: Settings["machines"]["provider"], local: Machines): Promise<MachineChoice> {
  if (wanted === "host") return { provider: "host", reason: "machines.provider is host" };
  const obstacle = await obstacleOf(local);
  const provider = wanted === "docker" ? "docker" : "local";
  if (obstacle === null)
    return { provider, reason: `machines.provider is ${wanted}${await egressNote(provider, local)}` };
  if (wanted !== "auto") throw new MachineUnavailable(obstacle);
  return { provider: "host", reason: obstacle };
}

/** Machines of this host have transparent egress, unless it could not be prepared. */
async function egressNote(kind: "docker" | "local", { provider }: Machines): Promise<string> {
  if (kind === "docker") return "";
  const { egress } = await (await provider()).capabilities();
  return egress === "transparent" ? "" : "; programs reach hosts by the proxy variables only";
}

/** Null if there can be machines here. */
async function obstacleOf({ provider }: Machines): Promise<string | null> {
  try {
    return (await (await provider()).capabilities()).obstacle;
  } catch (error) {
    return (error as Error).message;
  }
}

async function mount({ limits, ...local }: Machines, request: MachineRequest): Promise<MountedDisk> {
  const { name, directories, isKnown, base } = request;
  const provider = await local.provider();
  const existing = await provider.find(name);
  if (existing === undefined && isKnown) throw lostDisk();
  try {
    const machine = existing ?? (await provider.create({ id: name, ...base, limits }));
    const kept = machine.prepared.kept.filter((path) => makeMountPoint(directories[0] ?? "", path));
    return await provider.mount(machine.id, { directories, kept, limits });
  } catch (error) {
    if (error instanceof DiskLost) {
      await existing?.remove();
      throw lostDisk();
    }
    if (error instanceof MachineUnavailable || isStorageFull(error)) throw error;
    throw new MachineUnavailable(`The machine could not be made: ${(error as Error).message}`);
  }
}

const lostDisk = () =>
  new MachineFault(
    "The disk of this agent's machine is not on this server any more. Its repositories are complete; what it installed or wrote outside /workspace is lost. Send another prompt to go on with a new machine.",
  );

const lostWhileRunning = (reason: string) =>
  new MachineFault(
    `The machine of this agent ended while it was in use: ${reason} Its files are kept; commands that were running are lost. Send another prompt to go on.`,
  );

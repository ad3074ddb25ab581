// One machine of this host, as its provider hands it out.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { identityOf, ownIdentity, type ProcessIdentity } from "@agentcli/workspace";
import {
  type EgressOptions,
  type Machine,
  type MachineStats,
  MachineUnavailable,
  type Supervisor,
} from "../provider.ts";
import { awaitDetached, diskBytes } from "./disk.ts";
import { unpublish } from "./drafts.ts";
import { signalTree } from "./freeze.ts";
import { type Host, machineDirectory } from "./host.ts";
import { launch } from "./launch.ts";
import { claimRunning, type MachineRecord, readMachine, readRunning, removeRunning, writeRunning } from "./records.ts";
import { endRunning, isActive } from "./running.ts";
import { takeSnapshot } from "./snapshot.ts";

/** How this process ends the machines that it has started, by their directory. */
export type LiveMachines = Map<string, () => Promise<void>>;

export function openMachine(host: Host, record: MachineRecord, live: LiveMachines): Machine {
  const directory = machineDirectory(host, record.id);
  const { freeze, thaw, isFrozen, forget } = openFreezing(host, record);
  async function stop(): Promise<void> {
    const end = live.get(directory) ?? (() => endRunning(host.parts, directory));
    await end();
    forget();
  }
  return {
    id: record.id,
    layers: record.layers,
    async state() {
      if (findMain(directory) === undefined) return "stopped";
      return isFrozen() ? "frozen" : "running";
    },
    start: (egress) => start(host, record, { live, egress }),
    stop,
    freeze,
    thaw,
    async snapshot() {
      const main = findMain(directory);
      if (main === undefined) return takeSnapshot(host, record, null);
      const wasFrozen = isFrozen();
      if (!wasFrozen) await freeze();
      try {
        return await takeSnapshot(host, record, main.pid);
      } finally {
        if (!wasFrozen) await thaw();
      }
    },
    stats: () => readStats(directory, record),
    async remove() {
      await stop();
      await unpublish(host.machines, record.id);
      host.ranges.release(record.id);
    },
  };
}

/** Undefined if the machine does not run. */
function findMain(directory: string): ProcessIdentity | undefined {
  const running = readRunning(directory);
  return running?.main && isActive(running) ? running.main : undefined;
}

function openFreezing(host: Host, { id }: MachineRecord) {
  const directory = machineDirectory(host, id);
  let isFrozen = false;
  const find = () => {
    const main = findMain(directory);
    if (main) return { pid: main.pid, freezer: readRunning(directory)?.freezer ?? null };
    throw new MachineUnavailable(`Machine ${id} is not running. Start it first.`);
  };
  return {
    isFrozen: () => isFrozen,
    forget: () => {
      isFrozen = false;
    },
    async freeze() {
      const { pid, freezer } = find();
      if (freezer === null) signalTree(pid, "SIGSTOP");
      else await host.parts.freezeGroup(freezer);
      isFrozen = true;
    },
    async thaw() {
      const { pid, freezer } = find();
      if (freezer === null) signalTree(pid, "SIGCONT");
      else host.parts.thawGroup(freezer);
      isFrozen = false;
    },
  };
}

interface StartContext {
  live: LiveMachines;
  egress: EgressOptions;
}

async function start(host: Host, record: MachineRecord, { live, egress }: StartContext): Promise<Supervisor> {
  const { parts } = host;
  const directory = machineDirectory(host, record.id);
  if (readMachine(directory) === undefined)
    throw new MachineUnavailable(`Machine ${record.id} does not exist any more.`);
  const rules = await parts.readRules(egress.allowed, egress.denied);
  const proxy = await parts.openEgressProxy({ rules, onDenied: egress.onDenied });
  const { limits, claim } = await claimLimits(host, record);
  const release = async () => {
    live.delete(directory);
    if (claim.freezer !== null) await parts.killGroup(claim.freezer);
    await awaitDetached(directory);
    await limits.close();
    removeRunning(directory);
  };
  try {
    const { process: confined, tools, stream } = await launch(host, record, limits);
    writeRunning(directory, { ...claim, main: identityOf(confined.pid) });
    const ended = confined.describeEnd().then(release);
    ended.catch(() => {});
    live.set(directory, async () => {
      if (claim.freezer !== null) parts.thawGroup(claim.freezer);
      await confined.killNamespace();
      await ended;
    });
    const { terminalModule } = tools;
    return {
      readable: confined.stdout,
      writable: confined.stdin,
      describeEnd: confined.describeEnd,
      config: { orphans: "ended-by-namespace", egress: "bridge", ...(terminalModule && { terminalModule }) },
      dial: proxy.serveBridge(stream).dial,
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/** The limits of the machine, and the record that it is this server's to run. */
async function claimLimits(host: Host, record: MachineRecord) {
  const { memoryBytes, cpus, processes, temporaryBytes } = record.limits;
  const wanted = { memoryBytes, cpus, processes, temporaryBytes, fileBytes: null, freezable: true };
  const limits = host.parts.openLimits(wanted);
  const groups = limits.groups.map((group) => group.directory);
  const freezer = limits.groups.find(({ controller }) => controller === "freezer")?.directory ?? null;
  const claim = { owner: ownIdentity(), groups, freezer };
  try {
    await claimStart(host, record, { ...claim, main: null });
    return { limits, claim };
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

async function readStats(directory: string, record: MachineRecord): Promise<MachineStats> {
  const groups = readRunning(directory)?.groups ?? [];
  const read = (names: string[]) =>
    groups.flatMap((group) => names.flatMap((name) => readNumber(join(group, name))))[0];
  return {
    memoryBytes: read(["memory.usage_in_bytes", "memory.current"]) ?? null,
    processes: read(["pids.current"]) ?? null,
    diskBytes: await diskBytes(directory, record),
  };
}

function readNumber(path: string): number[] {
  try {
    return [Number(readFileSync(path, "utf8"))];
  } catch {
    // Of another controller.
    return [];
  }
}

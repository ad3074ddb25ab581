// One machine of this host, as its provider hands it out.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { identityOf, type ProcessIdentity } from "@agentcli/workspace";
import { setAside } from "../parts/index.ts";
import {
  type EgressOptions,
  type Machine,
  type MachineStats,
  MachineUnavailable,
  type Supervisor,
} from "../provider.ts";
import { claimLimits } from "./claim.ts";
import { diskBytes } from "./disk.ts";
import { signalTree } from "./freeze.ts";
import { type Host, type LiveMachines, machineDirectory } from "./host.ts";
import { launch } from "./launch.ts";
import { type MachineRecord, readRunning, writeRunning } from "./records.ts";
import { endRunning, isActive } from "./running.ts";
import { takeSnapshot } from "./snapshot.ts";

export function openMachine(host: Host, record: MachineRecord, live: LiveMachines): Machine {
  const directory = machineDirectory(host, record.id);
  const { freeze, thaw, isFrozen, forget } = openFreezing(host, record);
  async function stop(): Promise<void> {
    const end = live.get(directory) ?? (() => endRunning(host.parts, directory));
    await end();
    forget();
  }
  // Its user ids are free with its name: later they may be those of the next machine with this id. No machine sees the files.
  async function aside(): Promise<() => Promise<void>> {
    await stop();
    const remove = setAside(host.machines, record.id);
    host.ranges.release(record.id);
    return remove;
  }
  return {
    id: record.id,
    layers: record.layers,
    prepared: record.prepared ?? { env: {}, kept: [] },
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
    remove: async () => (await aside())(),
    setAside: aside,
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
  const rules = await parts.readRules(egress.allowed, egress.denied);
  const proxy = await parts.openEgressProxy({ rules, onDenied: egress.onDenied });
  const { limits, claim, release: end } = await claimLimits(host, record, null);
  const release = () => {
    live.delete(directory);
    return end();
  };
  try {
    const { process: confined, tools, stream } = await launch(host, record, { limits, ports: proxy.ports });
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

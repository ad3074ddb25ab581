// Machines of this host. Several servers may share the directory; each machine is run by one of them.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { isRunning, loadMachineParts } from "@agentcli/workspace";
import {
  beingMade,
  checkMachineId,
  collectDrafts,
  importHostBase,
  makeDraft,
  maxLayers,
  publish,
  published,
} from "../parts/index.ts";
import { type MachineCapabilities, type MachineProvider, type MachineSpec, MachineUnavailable } from "../provider.ts";
import { makeDisk } from "./disk.ts";
import { type Host, isRoot, type LiveMachines, machineDirectory } from "./host.ts";
import { layerRange, openRanges } from "./ids.ts";
import { openLayers } from "./layers.ts";
import { openMachine } from "./machine.ts";
import { mountMachine } from "./mounted.ts";
import { probe } from "./probe.ts";
import { type MachineRecord, readMachine, readRunning, writeMachine } from "./records.ts";
import { endRunning } from "./running.ts";

export interface LocalOptions {
  /** Where layers and disks are kept. */
  directory: string;
  /** Directories where bubblewrap is looked for. */
  path: string;
  /** The built workspace server: one file that Node can run, with its chunks beside it. */
  serverProgram: string;
  nodePath?: string;
}

export async function openLocalProvider(options: LocalOptions): Promise<MachineProvider> {
  const host = await openHost(options);
  const live: LiveMachines = new Map();
  const open = (record: MachineRecord | undefined) => record && openMachine(host, record, live);
  const readAll = () => published(host.machines).flatMap((id) => readMachine(machineDirectory(host, id)) ?? []);
  return {
    kind: "local",
    capabilities: host.capabilities,
    importBase: (archive) => host.layers.unpack(archive, { hostPaths: [] }),
    async create(spec) {
      const record = readMachine(machineDirectory(host, checkMachineId(spec.id))) ?? (await createMachine(host, spec));
      return openMachine(host, record, live);
    },
    find: async (id) => open(readMachine(machineDirectory(host, checkMachineId(id)))),
    list: async () => readAll().map((record) => openMachine(host, record, live)),
    async mount(id, options) {
      const record = readMachine(machineDirectory(host, checkMachineId(id)));
      if (record === undefined) throw new MachineUnavailable(`Machine ${id} does not exist any more.`);
      return mountMachine(host, record, { ...options, live });
    },
    collect: () => collect(host),
    removeLayers: ({ keep, before }) =>
      host.layers.removeOthers(new Set([...keep, ...readAll().flatMap(({ layers }) => layers)]), before),
  };
}

async function openHost({ directory, path, serverProgram, nodePath = process.execPath }: LocalOptions): Promise<Host> {
  const parts = await loadMachineParts();
  const machines = join(directory, "machines");
  mkdirSync(machines, { recursive: true, mode: 0o700 });
  let probed: Promise<MachineCapabilities> | undefined;
  const host: Host = {
    parts,
    machines,
    layers: openLayers(join(directory, "layers")),
    ranges: openRanges(join(directory, "ranges")),
    bubblewrap: parts.findBubblewrap({ path, untrusted: [machines] }),
    nodePath,
    serverProgram,
    capabilities() {
      probed ??= probe(host);
      return probed;
    },
  };
  return host;
}

async function createMachine(host: Host, spec: MachineSpec): Promise<MachineRecord> {
  const { obstacle, users, limits } = await host.capabilities();
  if (obstacle !== null) throw new MachineUnavailable(obstacle);
  if (spec.layers.length > maxLayers)
    throw new MachineUnavailable(`A machine can have at most ${maxLayers} layers, not ${spec.layers.length}.`);
  const layers = spec.layers.length > 0 ? spec.layers : [await importHostBase(host.layers.unpack)];
  for (const digest of layers) host.layers.path(digest);
  const draft = makeDraft(host.machines, spec.id);
  const own = users === "own-range" ? host.ranges.reserve(spec.id) : layerRange;
  const record: MachineRecord = {
    ...spec,
    layers,
    firstId: isRoot() ? own : null,
    disk: spec.limits.diskBytes !== null && limits.disk === "machine" ? "image" : "directory",
  };
  await makeDisk(draft, record);
  writeMachine(draft, record);
  await publish(draft, machineDirectory(host, spec.id));
  return readMachine(machineDirectory(host, spec.id)) ?? record;
}

async function collect(host: Host): Promise<void> {
  for (const id of published(host.machines)) {
    const directory = machineDirectory(host, id);
    const running = readRunning(directory);
    if (running && !isRunning(running.owner)) await endRunning(host.parts, directory);
  }
  await collectDrafts(host.machines);
  await host.layers.collect();
  host.ranges.keepOnly(new Set([...published(host.machines), ...beingMade(host.machines)]));
}

// Machines of the Docker daemon of this host. Several servers may share the directory; each machine is run by one of them.
import { createHash } from "node:crypto";
import { mkdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { isRunning, loadMachineParts } from "@agentcli/workspace";
import {
  checkMachineId,
  collectDrafts,
  importHostBase,
  makeDraft,
  maxLayers,
  publish,
  published,
} from "../parts/index.ts";
import { type MachineProvider, type MachineSpec, MachineUnavailable } from "../provider.ts";
import { containerName, nextName, removeContainersExcept } from "./container.ts";
import { openEngine } from "./engine.ts";
import { type DockerHost, machineDirectory, type Probed, readMachine, readRunning, writeMachine } from "./host.ts";
import { openDockerLayers, removeDiskImages } from "./layers.ts";
import { openDockerMachine } from "./machine.ts";
import { mountDockerMachine } from "./mounted.ts";
import { probeDaemon } from "./probe.ts";
import { endContainer } from "./running.ts";
import { type DockerTools, findDockerTools } from "./tools.ts";

export interface DockerOptions {
  /** Where layers and records are kept. */
  directory: string;
  /** The Unix socket of the daemon. */
  socketPath: string;
  /** Directories where bubblewrap is looked for. */
  path: string;
  /** The built workspace server, with the other programs beside it. */
  serverProgram: string;
  nodePath?: string;
}

export async function openDockerProvider(options: DockerOptions): Promise<MachineProvider> {
  const host = await openHost(options);
  const readAll = () => published(host.machines).flatMap((id) => readMachine(machineDirectory(host, id)) ?? []);
  const read = (id: string) => readMachine(machineDirectory(host, checkMachineId(id)));
  return {
    kind: "docker",
    capabilities: async () => (await host.probe()).capabilities,
    importBase: (archive) => host.layers.unpack(archive, { hostPaths: [] }),
    create: async (spec) => openDockerMachine(host, read(spec.id) ?? (await createMachine(host, spec))),
    async find(id) {
      const spec = read(id);
      return spec && openDockerMachine(host, spec);
    },
    list: async () => readAll().map((spec) => openDockerMachine(host, spec)),
    async mount(id, mountOptions) {
      const spec = read(id);
      if (spec === undefined) throw new MachineUnavailable(`Machine ${id} does not exist any more.`);
      return mountDockerMachine(host, spec, mountOptions);
    },
    collect: () => collect(host),
    removeLayers: ({ keep, before }) =>
      host.layers.removeOthers(new Set([...keep, ...readAll().flatMap(({ layers }) => layers)]), before),
  };
}

async function openHost(options: DockerOptions): Promise<DockerHost> {
  const { directory, socketPath, path, serverProgram, nodePath = process.execPath } = options;
  const parts = await loadMachineParts();
  const machines = join(directory, "machines");
  mkdirSync(machines, { recursive: true, mode: 0o700 });
  const owner = createHash("sha256").update(realpathSync(directory)).digest("hex").slice(0, 12);
  const engine = openEngine(socketPath);
  let probed: Promise<Probed> | undefined;
  let tools: Promise<DockerTools> | undefined;
  return {
    ...{ engine, socketPath, parts, machines, owner, nodePath },
    layers: openDockerLayers(engine, join(directory, "layers"), owner),
    enterProgram: join(dirname(serverProgram), "docker-enter.cjs"),
    tools() {
      const bubblewrap = parts.findBubblewrap({ path, untrusted: [machines] });
      tools ??= findDockerTools(parts, { nodePath, serverProgram, bubblewrap });
      return tools;
    },
    // A daemon that was not there, or not mapped, may be later.
    async probe() {
      probed ??= probeDaemon(engine);
      const found = await probed;
      if (found.capabilities.obstacle !== null) probed = undefined;
      return found;
    },
  };
}

async function createMachine(host: DockerHost, spec: MachineSpec): Promise<MachineSpec> {
  const { obstacle } = (await host.probe()).capabilities;
  if (obstacle !== null) throw new MachineUnavailable(obstacle);
  if (spec.layers.length > maxLayers)
    throw new MachineUnavailable(`A machine can have at most ${maxLayers} layers, not ${spec.layers.length}.`);
  const layers = spec.layers.length > 0 ? spec.layers : [await importHostBase(host.layers.unpack)];
  await host.layers.imageOf(layers);
  const draft = makeDraft(host.machines, spec.id);
  writeMachine(draft, { ...spec, layers });
  await publish(draft, machineDirectory(host, spec.id));
  return readMachine(machineDirectory(host, spec.id)) ?? { ...spec, layers };
}

/** Ends what a killed server was running, and removes containers of machines that are gone. */
async function collect(host: DockerHost): Promise<void> {
  await collectDrafts(host.machines);
  await host.layers.collect();
  // Without its daemon nothing of a machine runs.
  if ((await host.probe()).capabilities.obstacle !== null) return;
  const ids = published(host.machines);
  for (const id of ids) {
    const owner = readRunning(machineDirectory(host, id));
    if (owner && !isRunning(owner)) await endContainer(host, id);
  }
  const names = ids.map((id) => containerName(host.owner, id));
  await removeContainersExcept(host.engine, host.owner, new Set([...names, ...names.map(nextName)]));
  await removeDiskImages(host.engine, host.owner, (id) => !ids.includes(id));
}

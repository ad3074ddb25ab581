// One machine of a Docker daemon, as its provider hands it out.
import { bubblewrapCommand, setAside } from "../parts/index.ts";
import {
  type EgressOptions,
  type Machine,
  type MachineSpec,
  MachineUnavailable,
  type Supervisor,
} from "../provider.ts";
import { containerName, findContainer } from "./container.ts";
import { diskBytes, setDiskAside } from "./disk.ts";
import { type DockerHost, machineDirectory, readMachine } from "./host.ts";
import { endContainer, runContainer } from "./running.ts";
import { takeSnapshot } from "./snapshot.ts";
import { view } from "./tools.ts";

export function openDockerMachine(host: DockerHost, spec: MachineSpec): Machine {
  const { engine } = host;
  const name = containerName(host.owner, spec.id);
  const expectRunning = async () => {
    const found = await findContainer(engine, name);
    if (!found?.State.Running) throw new MachineUnavailable(`Machine ${spec.id} is not running. Start it first.`);
    return found.State;
  };
  return {
    id: spec.id,
    layers: spec.layers,
    prepared: spec.prepared ?? { env: {}, kept: [] },
    async state() {
      const found = await findContainer(engine, name);
      if (!found?.State.Running) return "stopped";
      return found.State.Paused ? "frozen" : "running";
    },
    start: (egress) => start(host, spec, egress),
    stop: () => endContainer(host, spec.id),
    async freeze() {
      if (!(await expectRunning()).Paused) await engine.call("POST", `/containers/${name}/pause`);
    },
    async thaw() {
      if ((await expectRunning()).Paused) await engine.call("POST", `/containers/${name}/unpause`);
    },
    snapshot: () => takeSnapshot(host, spec),
    stats: () => readStats(host, spec),
    remove: async () => (await setMachineAside(host, spec.id))(),
    setAside: () => setMachineAside(host, spec.id),
  };
}

/** Its containers first: another machine with its id must not find them. */
async function setMachineAside(host: DockerHost, id: string): Promise<() => Promise<void>> {
  await endContainer(host, id);
  const removeDisk = await setDiskAside(host, id);
  const removeRecords = setAside(host.machines, id);
  return async () => {
    await removeDisk();
    await removeRecords();
  };
}

async function start(host: DockerHost, spec: MachineSpec, egress: EgressOptions): Promise<Supervisor> {
  const { parts } = host;
  if (readMachine(machineDirectory(host, spec.id)) === undefined)
    throw new MachineUnavailable(`Machine ${spec.id} does not exist any more.`);
  const rules = await parts.readRules(egress.allowed, egress.denied);
  const proxy = await parts.openEgressProxy({ rules, onDenied: egress.onDenied });
  const tools = await host.tools();
  const container = await runContainer(host, spec, { directories: [], kept: [], limits: spec.limits });
  const filter = parts.machineFilter({ setIdFiles: "allowed" });
  const { temporaryBytes } = spec.limits;
  const command = bubblewrapCommand(
    {
      ...{ bubblewrap: tools.bubblewrap, view, hostname: spec.id, network: "own" },
      hostPaths: spec.layers.flatMap((digest) => host.layers.notes(digest).hostPaths),
      tools: tools.mounts.flatMap(({ name }) => (name.startsWith("bubblewrap/") ? [] : name)),
      sizes:
        temporaryBytes === null
          ? undefined
          : parts.shareTemporary(temporaryBytes, { repositories: 0, varTmp: "absent" }),
      seccompDescriptor: filter && parts.setupDescriptor,
    },
    tools.argv,
  );
  let dial: Supervisor["dial"] | undefined;
  const confined = parts.startConfined({
    ...enterContainer(host, { container: container.name, inside: tools.processInside, argv: command }),
    setup: filter,
    onBridge(stream) {
      dial = proxy.serveBridge(stream).dial;
    },
  });
  if (dial === undefined) throw new Error("A process was started without its bridge.");
  // The machine is its supervisor: one does not outlive the other.
  void confined
    .describeEnd()
    .then(container.kill)
    .catch(() => {});
  const { terminalModule } = tools;
  return {
    ...{ readable: confined.stdout, writable: confined.stdin, describeEnd: confined.describeEnd },
    config: { orphans: "ended-by-namespace", egress: "bridge", ...(terminalModule && { terminalModule }) },
    dial,
  };
}

export interface EnteredCommand {
  container: string;
  /** The program in the container that runs it. */
  inside: string[];
  argv: string[];
}

/** The command line of the host that runs another one in a container. */
export const enterContainer = (
  { nodePath, enterProgram, socketPath }: Pick<DockerHost, "nodePath" | "enterProgram" | "socketPath">,
  { container, inside, argv }: EnteredCommand,
) => ({ program: nodePath, argv: [enterProgram, socketPath, container, JSON.stringify(inside), ...argv] });

interface ContainerStats {
  memory_stats?: { usage?: number };
  pids_stats?: { current?: number };
}

async function readStats(host: DockerHost, spec: MachineSpec) {
  const { engine } = host;
  const name = containerName(host.owner, spec.id);
  const found = await findContainer(engine, name);
  const live = found?.State.Running
    ? await engine.call<ContainerStats>("GET", `/containers/${name}/stats?stream=false&one-shot=true`)
    : null;
  return {
    memoryBytes: live?.memory_stats?.usage ?? null,
    processes: live?.pids_stats?.current ?? null,
    diskBytes: await diskBytes(host, spec),
  };
}

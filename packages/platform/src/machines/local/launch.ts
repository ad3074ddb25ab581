// Starts the processes of a machine: its namespaces, its disk, and in them its supervisor.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { bubblewrapCommand, findTools, type Tools } from "../parts/index.ts";
import { type MachineCapabilities, MachineUnavailable } from "../provider.ts";
import { type Host, isRoot, machineDirectory } from "./host.ts";
import { layerRange } from "./ids.ts";
import type { MachineRecord } from "./records.ts";
import { type DiskPlan, view, withDisk } from "./setup.ts";
import { openUserNamespace, type UserNamespace } from "./user-namespace.ts";

type OpenedLimits = ReturnType<Host["parts"]["openLimits"]>;
type ConfinedProcess = ReturnType<Host["parts"]["startConfined"]>;

const pollMs = 2;

export interface Launched {
  process: ConfinedProcess;
  tools: Tools;
  /** The host's end of the bridge to its network. */
  stream: Duplex;
}

export interface LaunchOptions {
  limits: OpenedLimits;
  /** On which its bridge listens in the place of hosts. */
  ports: number[];
}

/** Settles when everything is mounted; throws MachineUnavailable with the reason if it cannot be. */
export async function launch(host: Host, record: MachineRecord, { limits, ports }: LaunchOptions): Promise<Launched> {
  const { parts } = host;
  const tools = findTools(parts, host);
  const { users, egress } = await host.capabilities();
  return inNamespaces(record, users, async (namespaces) => {
    const filter = parts.machineFilter({ setIdFiles: isRoot() ? "allowed" : "refused" });
    const commandIn = (network: "own" | "prepared") =>
      bubblewrapCommand(
        {
          network,
          bubblewrap: [host.bubblewrap],
          view,
          hostname: record.id,
          hostPaths: record.layers.flatMap((digest) => host.layers.notes(digest).hostPaths),
          tools: tools.mounts.map(({ name }) => name),
          sizes: sizesOf(parts, record.limits.temporaryBytes),
          seccompDescriptor: filter && parts.setupDescriptor,
        },
        tools.argv,
      );
    const command =
      (egress === "transparent" && prepareNetwork(parts, ports, commandIn("prepared"))) || commandIn("own");
    const { program, argv } = withDisk({ ...planOf(host, record, namespaces), tools: tools.mounts }, command);
    let stream: Duplex | undefined;
    const onBridge = (opened: Duplex) => {
      stream = opened;
    };
    const confined = parts.startConfined({ ...limits.enter(program, argv), setup: filter, onBridge });
    await awaitProgram(confined, host.bubblewrap);
    if (stream === undefined) throw new Error("A process was started without its bridge.");
    return { process: confined, tools, stream };
  });
}

/** Undefined where it cannot be. */
export function prepareNetwork(
  { inEgressNetwork }: Host["parts"],
  ports: number[],
  [program = "", ...argv]: string[],
): string[] | undefined {
  const prepared = inEgressNetwork(ports, { program, argv });
  return prepared && [prepared.program, ...prepared.argv];
}

/** Services and terminals have no copies of repositories. */
const sizesOf = ({ shareTemporary }: Host["parts"], bytes: number | null) =>
  bytes === null ? undefined : shareTemporary(bytes, { repositories: 0, varTmp: "absent" });

export interface Namespaces {
  layers: UserNamespace | null;
  machine: UserNamespace | null;
}

/** The namespaces stay as long as a process is in them; their holders end when the work is done. */
export async function inNamespaces<Result>(
  { firstId }: Pick<MachineRecord, "firstId">,
  users: MachineCapabilities["users"],
  work: (namespaces: Namespaces) => Promise<Result>,
): Promise<Result> {
  if (firstId === null) return work({ layers: null, machine: null });
  const opened: UserNamespace[] = [];
  try {
    const machine = await openUserNamespace(0, firstId);
    opened.push(machine);
    const layers = users === "own-range" ? await openUserNamespace(layerRange, firstId) : null;
    if (layers) opened.push(layers);
    return await work({ layers, machine });
  } finally {
    for (const namespace of opened) namespace.close();
  }
}

/** Without tools. */
export const planOf = (host: Host, record: MachineRecord, { layers, machine }: Namespaces): DiskPlan => ({
  machineDirectory: machineDirectory(host, record.id),
  disk: record.disk,
  layers: record.layers.map((digest) => host.layers.path(digest)),
  firstId: record.firstId,
  layerNamespace: layers?.path ?? null,
  machineNamespace: machine?.path ?? null,
  tools: [],
  kept: [],
});

/** Every step replaces the program of one process; the last one is bubblewrap. */
async function awaitProgram(confined: ConfinedProcess, program: string): Promise<void> {
  let end: string | undefined;
  void confined.describeEnd().then((text) => {
    end = text;
  });
  while (end === undefined && nameOf(confined.pid) !== basename(program).slice(0, 15)) await delay(pollMs);
  if (end !== undefined) throw new MachineUnavailable(`The machine did not start: ${end}`);
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    // Gone: its end is reported.
    return "";
  }
}

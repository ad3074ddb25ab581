// Finds out by trying what this host can do for machines.
import { randomUUID } from "node:crypto";
import { makeDraft, removeTree, run } from "../parts/index.ts";
import type { MachineCapabilities } from "../provider.ts";
import { makeDisk } from "./disk.ts";
import { type Host, isRoot } from "./host.ts";
import { layerRange } from "./ids.ts";
import { inNamespaces, prepareNetwork } from "./launch.ts";
import type { MachineRecord } from "./records.ts";
import { withDisk } from "./setup.ts";
import { enterAsRoot, rangeSize } from "./user-namespace.ts";

const probeBytes = 16 * 1024 ** 2;

export async function probe(host: Host): Promise<MachineCapabilities> {
  const root = isRoot();
  const failure = await tryDisk(host, { users: "shared-range", disk: "directory" });
  const ownRange =
    root && failure === null && (await tryDisk(host, { users: "own-range", disk: "directory" })) === null;
  const users = ownRange ? "own-range" : "shared-range";
  const image = root && failure === null && (await tryDisk(host, { users, disk: "image" })) === null;
  return {
    obstacle: failure === null ? null : `Machines cannot be made here: ${failure} ${remedy}`,
    kernel: "shared",
    users: root ? users : "single",
    ...(await probeLimits(host, image)),
    egress: failure === null && (await tryNetwork(host)) ? "transparent" : "proxy-env",
    base: "host-read-only",
  };
}

const remedy = "Allow user namespaces and overlay mounts, or use another provider of machines.";

interface Attempt {
  users: "own-range" | "shared-range";
  disk: MachineRecord["disk"];
}

/** Mounts an empty disk over an empty layer, and writes a file there as root of the machine. Returns what went wrong. */
async function tryDisk(host: Host, { users, disk }: Attempt): Promise<string | null> {
  const directory = makeDraft(host.machines, "probe");
  // The range of layers, moved: no machine has it, and a probe leaves nothing behind.
  const firstId = isRoot() ? (users === "own-range" ? layerRange - rangeSize : layerRange) : null;
  const limits = { memoryBytes: null, cpus: null, processes: null, temporaryBytes: null, diskBytes: probeBytes };
  const record: MachineRecord = { id: randomUUID(), layers: [], limits, firstId, disk };
  try {
    await makeDisk(directory, record);
    const layer = `${directory}/layer`;
    await run(["mkdir", layer]);
    if (firstId !== null) await run(["chown", `${layerRange}:${layerRange}`, layer]);
    await inNamespaces(record, users, async ({ layers, machine }) => {
      const plan = { machineDirectory: directory, disk, layers: [layer], firstId, tools: [], kept: [] };
      const namespaces = { layerNamespace: layers?.path ?? null, machineNamespace: machine?.path ?? null };
      const { program, argv } = withDisk({ ...plan, ...namespaces }, [
        "/bin/sh",
        "-c",
        "cd /tmp/root && mkdir probe && rmdir probe",
      ]);
      await run([program, ...argv]);
    });
    return null;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await removeTree(directory);
  }
}

/** As root of a machine. */
async function tryNetwork({ parts }: Host): Promise<boolean> {
  const command = prepareNetwork(parts, [], ["/bin/true"]);
  if (command === undefined) return false;
  const firstId = isRoot() ? layerRange : null;
  try {
    await inNamespaces({ firstId }, "shared-range", ({ machine }) =>
      run(machine ? enterAsRoot(machine, command) : ["unshare", "--user", "--map-root-user", "--", ...command]),
    );
    return true;
  } catch {
    return false;
  }
}

async function probeLimits({ parts }: Host, image: boolean): Promise<Pick<MachineCapabilities, "limits" | "freeze">> {
  const wanted = { memoryBytes: probeBytes, processes: 100, cpus: 1, freezable: true };
  const limits = parts.openLimits({ ...wanted, temporaryBytes: null, fileBytes: null });
  await limits.close();
  const { memory, processes } = limits.report;
  const has = (name: string) => limits.groups.some(({ controller }) => controller === name);
  return {
    limits: {
      memory: enforcerOf(memory.by),
      processes: enforcerOf(processes.by),
      cpu: has("cpu") ? "machine" : "nothing",
      disk: image ? "machine" : "nothing",
    },
    freeze: has("freezer") ? "group" : "signals",
  };
}

function enforcerOf(by: string): "machine" | "process" | "nothing" {
  if (by.startsWith("cgroup")) return "machine";
  return by === "rlimit" ? "process" : "nothing";
}

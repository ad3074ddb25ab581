// Keeps the disk of a machine mounted for sandboxes that are started in it. One process holds the mounts; the others enter
// its namespaces. When the last one has ended, so has everything that was mounted.

import { once } from "node:events";
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { identityOf } from "@agentcli/workspace";
import { capabilities, findTools, type Tools, toolPath } from "../parts/index.ts";
import { MachineUnavailable, type MountedDisk, type MountOptions } from "../provider.ts";
import { claimLimits } from "./claim.ts";
import { type Host, isRoot, type LiveMachines, machineDirectory } from "./host.ts";
import { inNamespaces, planOf } from "./launch.ts";
import { type MachineRecord, writeRunning } from "./records.ts";
import { view, withDisk } from "./setup.ts";

export interface MountContext extends MountOptions {
  live: LiveMachines;
}

export async function mountMachine(host: Host, record: MachineRecord, context: MountContext): Promise<MountedDisk> {
  const { live, directories, kept, limits: wanted } = context;
  const directory = machineDirectory(host, record.id);
  const tools = findTools(host.parts, host);
  const { egress } = await host.capabilities();
  const limited = { ...record, limits: { ...wanted, diskBytes: record.limits.diskBytes } };
  const { limits, claim, release } = await claimLimits(host, limited, wanted.diskBytes);
  try {
    const holder = await startHolder(host, limited, { tools, directories, kept, enter: limits.enter });
    writeRunning(directory, { ...claim, main: identityOf(holder.pid) });
    const close = async () => {
      live.delete(directory);
      await holder.kill();
      await release();
    };
    live.set(directory, close);
    return {
      root: view.root,
      shown: [...hostPathsOf(host, record), ...toolsShown(tools)],
      sources: directories.map((each, index) => ({
        directory: realpathSync(each),
        path: join(view.tools, mountName(index)),
      })),
      kept: kept.map((path, index) => ({ path, source: join(view.kept, String(index)) })),
      egress,
      capabilities: capabilities.map((name) => `CAP_${name}`),
      setIdFiles: isRoot() ? "allowed" : "refused",
      server: { argv: tools.argv, terminalModule: tools.terminalModule },
      temporaryBytes: wanted.temporaryBytes,
      limits,
      userId: record.firstId,
      enter: (program, argv) => enterHolder(holder.pid, [program, ...argv]),
      ended: holder.describeEnd(),
      close,
    };
  } catch (error) {
    await release();
    throw error;
  }
}

interface HolderContext {
  tools: Tools;
  directories: string[];
  kept: string[];
  enter(program: string, argv: string[]): { program: string; argv: string[] };
}

/** It ends with this server: nothing is left to read then. */
async function startHolder(host: Host, record: MachineRecord, { tools, directories, kept, enter }: HolderContext) {
  const { users } = await host.capabilities();
  const mounts = directories.map((source, index) => ({ source, name: mountName(index), kind: "directory" as const }));
  return inNamespaces(record, users, async (namespaces) => {
    const plan = { ...planOf(host, record, namespaces), tools: [...tools.mounts, ...mounts], kept };
    const { program, argv } = withDisk(plan, ["/bin/sh", "-c", "echo mounted; read line"]);
    const holder = host.parts.startConfined({ ...enter(program, argv), setup: undefined });
    const ended = holder.describeEnd();
    const mounted = once(holder.stdout, "data").then(() => null);
    mounted.catch(() => {});
    const failure = await Promise.race([mounted, ended]);
    if (failure === null) return holder;
    throw new MachineUnavailable(`The disk of machine ${record.id} could not be mounted: ${failure}`);
  });
}

const mountName = (index: number) => `directories/${index}`;

const hostPathsOf = (host: Host, { layers }: MachineRecord) =>
  layers
    .flatMap((digest) => host.layers.notes(digest).hostPaths)
    .filter((path) => existsSync(path))
    .map((path) => ({ path, source: realpathSync(path) }));

const toolsShown = ({ mounts }: Tools) =>
  mounts.map(({ name }) => ({ path: toolPath(name), source: join(view.tools, name) }));

/** As root of the machine, with its disk. */
function enterHolder(pid: number, argv: string[]): { program: string; argv: string[] } {
  const of = (kind: string) => `--${kind}=/proc/${pid}/ns/${kind === "mount" ? "mnt" : kind}`;
  const program = "/usr/bin/nsenter";
  if (!isRoot()) return { program, argv: [of("user"), of("mount"), "--preserve-credentials", "--", ...argv] };
  return { program, argv: [of("mount"), "--", program, of("user"), "--setuid=0", "--setgid=0", "--", ...argv] };
}

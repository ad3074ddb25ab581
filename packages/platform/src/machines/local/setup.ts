// The command line that runs a program with the disk of a machine: everything is mounted in a mount namespace of its own, so
// that all of it is gone, loop device included, when the last process inside has ended.
import { dirname, join } from "node:path";
import { isPlainPath } from "../mount-point.ts";
import { quote, type ToolMount } from "../parts/index.ts";
import { idmapProgram } from "./idmap.ts";
import { enterAsRoot } from "./user-namespace.ts";

export interface DiskPlan {
  machineDirectory: string;
  disk: "image" | "directory";
  /** Top first. */
  layers: string[];
  /** The first user id of the machine on the host; null: the user of the server. */
  firstId: number | null;
  /** The user namespace that shows layers with the ids of the machine; null: they have them already. */
  layerNamespace: string | null;
  /** The user namespace to run the program in; null: the one that mounts. */
  machineNamespace: string | null;
  /** Files and directories of the host, and their names below `tools`. */
  tools: ToolMount[];
  /** Directories of the machine that get a name of their own below `kept`. */
  kept: string[];
}

/** Where the program finds it. /tmp: every system has it, and the data directory is closed to the machine's users. */
export const view = {
  root: "/tmp/root",
  upper: "/tmp/disk/upper",
  disk: "/tmp/disk",
  tools: "/tmp/tools",
  kept: "/tmp/kept",
};

export function withDisk(plan: DiskPlan, argv: string[]): { program: string; argv: string[] } {
  const own = plan.firstId === null ? ["--user", "--map-root-user"] : [];
  const inside = plan.machineNamespace === null ? argv : enterAsRoot({ path: plan.machineNamespace }, argv);
  return {
    program: "/usr/bin/unshare",
    argv: [...own, "--mount", "--propagation=private", "--", "/bin/sh", "-c", scriptOf(plan), "machine", ...inside],
  };
}

function scriptOf(plan: DiskPlan): string {
  return [
    "set -e",
    `cd ${quote(plan.machineDirectory)}`,
    "mount -t tmpfs -o mode=755,nosuid,nodev,size=4m machine view",
    "cd view",
    "mkdir root disk lower tools kept",
    ...mountDisk(plan),
    ...mountLayers(plan),
    `mount -t overlay -o ${overlayOptions(plan)} machine root`,
    ...plan.tools.flatMap(mountTool),
    ...plan.kept.flatMap((path, index) => (isPlainPath(path) ? mountKept(path, index) : [])),
    "mount --rbind . /tmp",
    "cd /",
    'exec "$@"',
  ].join("\n");
}

function mountDisk({ disk, firstId }: DiskPlan): string[] {
  const owner = firstId === null ? [] : [`chown ${firstId}:${firstId} disk/upper disk/work`];
  return [
    disk === "image" ? "mount -o loop,nosuid,nodev ../disk.img disk" : "mount --bind ../disk disk",
    ["if [ ! -d disk/work ]", "then mkdir -m 755 -p disk/upper disk/work", ...owner, "fi"].join("; "),
  ];
}

function mountLayers({ layers, layerNamespace }: DiskPlan): string[] {
  const points = layers.map((_, index) => `lower/${index}`);
  const made = `mkdir ${points.join(" ")}`;
  if (layerNamespace === null)
    return [made, ...layers.map((layer, index) => `mount --bind ${quote(layer)} ${points[index]}`)];
  const pairs = layers.map((layer, index) => `${quote(layer)} ${points[index]}`);
  return [made, `perl -e ${quote(idmapProgram)} ${quote(layerNamespace)} ${pairs.join(" ")}`];
}

/**
 * With attributes of users: what marks a layer has no meaning to the kernel beyond deletion, so neither metacopy nor
 * redirects can be forged in an untrusted layer; root outside could not write them without them either.
 */
const overlayOptions = ({ layers }: DiskPlan) =>
  [
    ...["nosuid", "nodev", "userxattr", "index=off", "metacopy=off"],
    `lowerdir=${layers.map((_, index) => `lower/${index}`).join(":")}`,
    ...["upperdir=disk/upper", "workdir=disk/work"],
  ].join(",");

function mountTool({ source, name, kind }: ToolMount): string[] {
  const point = quote(join("tools", name));
  const parent = dirname(name) === "." ? [] : [`mkdir -p ${quote(join("tools", dirname(name)))}`];
  const made = kind === "directory" ? `mkdir -p ${point}` : `: > ${point}`;
  return [...parent, made, `mount --bind ${quote(source)} ${point}`];
}

/** Nothing of the machine runs yet. A link on the way could lead to the host: one such directory is left out. */
function mountKept(path: string, index: number): string {
  const parts = path.split("/").filter((part) => part !== "");
  const steps = parts.map((_, count) => quote(join("root", ...parts.slice(0, count + 1))));
  const tests = steps.map((step) => `[ -d ${step} ] && [ ! -L ${step} ]`).join(" && ");
  return `if ${tests}; then mkdir kept/${index}; mount --bind ${steps.at(-1)} kept/${index}; fi`;
}

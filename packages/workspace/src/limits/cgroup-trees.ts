// Where a control group of ours could be made, read from the kernel's own tables. Pure.
import { dirname, join } from "node:path";

export type Controller = "memory" | "pids";

export interface CgroupTree {
  version: 1 | 2;
  controller: Controller;
  /** Directories to try, the best first. */
  places: string[];
}

export interface KernelTables {
  /** /proc/self/mountinfo */
  mounts: string;
  /** /proc/self/cgroup */
  memberships: string;
}

/** One of version 1 before one of version 2: where both are mounted, a controller belongs to the former. */
export function findTrees({ mounts, memberships }: KernelTables): CgroupTree[] {
  const mounted = mounts.split("\n").flatMap(readMount);
  return (["memory", "pids"] as const).flatMap((controller): CgroupTree[] => {
    const old = mounted.find(({ type, options }) => type === "cgroup" && options.includes(controller));
    if (old) return [{ version: 1, controller, places: [ownDirectory(old, memberOf(memberships, controller))] }];
    const unified = mounted.find(({ type }) => type === "cgroup2");
    if (!unified) return [];
    // A group that holds processes cannot pass controllers on, so a neighbour is made where there can be no child.
    const own = ownDirectory(unified, memberOf(memberships, ""));
    const neighbours = own === unified.point ? [] : [dirname(own)];
    return [{ version: 2, controller, places: [own, ...neighbours] }];
  });
}

interface CgroupMount {
  /** The group that is shown at the mount point. */
  root: string;
  point: string;
  type: string;
  options: string[];
}

function readMount(line: string): CgroupMount[] {
  const [before = "", after = ""] = line.split(" - ");
  const [, , , root = "", point = ""] = before.split(" ");
  const [type = "", , options = ""] = after.split(" ");
  if (type !== "cgroup" && type !== "cgroup2") return [];
  return [{ root: plainPath(root), point: plainPath(point), type, options: options.split(",") }];
}

/** The kernel writes blanks and backslashes as octal. */
const plainPath = (path: string) =>
  path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));

/** Lines read `number:controllers:path`; version 2 has no controllers there. */
function memberOf(memberships: string, controller: string): string {
  for (const line of memberships.split("\n")) {
    const [, controllers = "", path = "/"] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (line !== "" && controllers.split(",").includes(controller)) return path;
  }
  return "/";
}

/** In a container the mount shows a part of the tree only; a path outside of it is of no use. */
function ownDirectory({ root, point }: CgroupMount, path: string): string {
  const prefix = root === "/" ? "" : root;
  const isShown = path.startsWith(`${prefix}/`) && path !== "/";
  return isShown ? join(point, path.slice(prefix.length)) : point;
}

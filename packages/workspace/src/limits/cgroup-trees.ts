// Where a control group could be created, read from the kernel's tables. Pure.
import { dirname, join } from "node:path";

export type Controller = "memory" | "pids" | "cpu" | "freezer";

export interface CgroupTree {
  version: 1 | 2;
  controller: Controller;
  /** Parent directories to try, in order of preference. */
  parents: string[];
}

export interface KernelTables {
  /** /proc/self/mountinfo */
  mounts: string;
  /** /proc/self/cgroup */
  memberships: string;
}

/** Version 1 before version 2: if both are mounted, a controller belongs to version 1. */
export function findTrees(
  { mounts, memberships }: KernelTables,
  controllers: Controller[] = ["memory", "pids"],
): CgroupTree[] {
  const mounted = mounts.split("\n").flatMap(readMount);
  return controllers.flatMap((controller): CgroupTree[] => {
    const old = mounted.find(({ type, options }) => type === "cgroup" && options.includes(controller));
    if (old) return [{ version: 1, controller, parents: [ownDirectory(old, memberOf(memberships, controller))] }];
    const unified = mounted.find(({ type }) => type === "cgroup2");
    if (!unified) return [];
    // A group with processes cannot enable controllers for children, so a sibling is created instead.
    const own = ownDirectory(unified, memberOf(memberships, ""));
    const siblings = own === unified.point ? [] : [dirname(own)];
    return [{ version: 2, controller, parents: [own, ...siblings] }];
  });
}

interface CgroupMount {
  /** The group at the mount point. */
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
  return [{ root: unescapePath(root), point: unescapePath(point), type, options: options.split(",") }];
}

/** The kernel escapes blanks and backslashes in octal. */
const unescapePath = (path: string) =>
  path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));

/** Lines are `number:controllers:path`; version 2 has no controllers there. */
function memberOf(memberships: string, controller: string): string {
  for (const line of memberships.split("\n")) {
    const [, controllers = "", path = "/"] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (line !== "" && controllers.split(",").includes(controller)) return path;
  }
  return "/";
}

/** In a container the mount may show only part of the tree; a path outside it cannot be used. */
function ownDirectory({ root, point }: CgroupMount, path: string): string {
  const prefix = root === "/" ? "" : root;
  const isShown = path.startsWith(`${prefix}/`) && path !== "/";
  return isShown ? join(point, path.slice(prefix.length)) : point;
}

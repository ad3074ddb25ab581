// Limits of one sandbox: control groups if possible, else rlimits per process, and a report of what is enforced.
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { type Cgroup, groupName, openCgroup } from "./cgroup.ts";
import { type CgroupTree, type Controller, findTrees, type KernelTables } from "./cgroup-trees.ts";

export interface ResourceLimits {
  memoryBytes: number | null;
  processes: number | null;
  /** The size of all private directories, such as /tmp, together, where the sandbox has its own. */
  temporaryBytes: number | null;
  /** The size of a single file. */
  fileBytes: number | null;
}

export const noLimits: ResourceLimits = { memoryBytes: null, processes: null, temporaryBytes: null, fileBytes: null };

export interface SandboxLimits extends ResourceLimits {
  /** Who runs what is inside; null or absent: the user of this process. */
  userId?: number | null;
}

/** What only a machine has. */
export interface MachineLimits extends SandboxLimits {
  /** How many processors it can use at most, such as 1.5. */
  cpus?: number | null;
  /** Whether a group is needed that can be frozen. */
  freezable?: boolean;
}

export type Enforcer = "cgroup-v1" | "cgroup-v2" | "rlimit" | "nothing";

export interface LimitsReport {
  /** A control group counts all processes together, an rlimit each one. */
  memory: { bytes: number | null; by: Enforcer };
  /** Threads count as processes. */
  processes: { count: number | null; by: Enforcer };
}

export interface OpenedLimits {
  report: LimitsReport;
  /** The control groups; the processes inside are in all of them. */
  groups: Pick<Cgroup, "controller" | "version" | "directory">[];
  /** The command line that starts the program within the limits. */
  enter(program: string, argv: string[]): { program: string; argv: string[] };
  /** Limits reached since the last call, as sentences. */
  newlyReached(): string[];
  /** To be called once everything inside has ended. */
  close(): Promise<void>;
}

export function openLimits(limits: MachineLimits, tables: KernelTables = readTables()): OpenedLimits {
  const groups = openGroups(limits, tables);
  const report = reportOf(limits, groups);
  const reached = new Map(groups.map((group) => [group, 0]));
  return {
    report,
    groups,
    enter: (program, argv) => enter({ report, groups, limits }, [program, ...argv]),
    newlyReached: () =>
      groups.flatMap((group) => {
        const times = group.timesReached();
        const isNew = times > (reached.get(group) ?? 0);
        reached.set(group, times);
        return isNew ? [describeReached(group, report)] : [];
      }),
    close: async () => void (await Promise.all(groups.map((group) => group.remove()))),
  };
}

function openGroups({ memoryBytes, processes, cpus = null, freezable }: MachineLimits, tables: KernelTables): Cgroup[] {
  const amounts = { memory: memoryBytes, pids: processes, cpu: cpus, freezer: freezable ? 0 : null };
  const name = groupName(randomBytes(6).toString("hex"));
  const wanted = (["memory", "pids", "cpu", "freezer"] as const).filter((controller) => amounts[controller] !== null);
  const groups: Cgroup[] = [];
  for (const tree of findTrees(tables, wanted)) {
    const group = openCgroup(besideOthers(tree, groups), amounts[tree.controller] ?? 0, name);
    if (group) groups.push(group);
  }
  return groups;
}

/** In version 2 a process is in one group, so that has to serve all controllers. */
function besideOthers(tree: CgroupTree, groups: Cgroup[]): CgroupTree {
  const other = groups.find(({ version }) => version === 2 && tree.version === 2);
  return other ? { ...tree, parents: [dirname(other.directory)] } : tree;
}

/** What would be enforced here, found out by trying. */
export async function describeLimits(requested: ResourceLimits): Promise<LimitsReport> {
  const limits = openLimits(requested);
  await limits.close();
  return limits.report;
}

function readTables(): KernelTables {
  try {
    return {
      mounts: readFileSync("/proc/self/mountinfo", "utf8"),
      memberships: readFileSync("/proc/self/cgroup", "utf8"),
    };
  } catch {
    // Not Linux, or no /proc: then there are no groups either.
    return { mounts: "", memberships: "" };
  }
}

const ownerOf = ({ userId }: SandboxLimits): number | undefined => userId ?? process.geteuid?.();

function reportOf(limits: SandboxLimits, groups: Cgroup[]): LimitsReport {
  const { memoryBytes, processes } = limits;
  const by = (controller: Controller, amount: number | null): Enforcer => {
    const group = groups.find((one) => one.controller === controller);
    if (group) return `cgroup-v${group.version}`;
    // The kernel does not limit the processes of root.
    const counts = controller === "memory" || ownerOf(limits) !== 0;
    return amount === null || !counts || process.platform !== "linux" ? "nothing" : "rlimit";
  };
  return {
    memory: { bytes: memoryBytes, by: by("memory", memoryBytes) },
    processes: { count: processes, by: by("pids", processes) },
  };
}

interface Entry {
  report: LimitsReport;
  groups: Cgroup[];
  limits: SandboxLimits;
}

/** A shell that limits itself and then execs the program; costs a millisecond. */
function enter({ report, groups, limits }: Entry, argv: string[]): { program: string; argv: string[] } {
  const { memory, processes } = report;
  const { fileBytes } = limits;
  const steps = groups.map(() => 'echo $$ > "$1"; shift');
  // Not the address space: many runtimes reserve far more than they use.
  if (memory.by === "rlimit" && memory.bytes !== null) steps.push(`ulimit -d ${Math.ceil(memory.bytes / 1024)}`);
  if (processes.by === "rlimit" && processes.count !== null) {
    // The kernel counts all threads of the user, also outside. Shells differ in the option letter.
    const max = processes.count + threadsOf(ownerOf(limits));
    steps.push(`ulimit -u ${max} 2> /dev/null || ulimit -p ${max} 2> /dev/null`);
  }
  // In units of 512 bytes in every shell that is called sh.
  if (fileBytes !== null) steps.push(`ulimit -f ${Math.ceil(fileBytes / 512)}`);
  const [program = "", ...rest] = argv;
  if (steps.length === 0) return { program, argv: rest };
  const script = [...steps, 'exec "$@"'].join("\n");
  return { program: "/bin/sh", argv: ["-c", script, "limits", ...groups.map((group) => group.membersFile), ...argv] };
}

/** Processes that end during the count have none. */
function threadsOf(owner: number | undefined): number {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .reduce((sum, id) => sum + threadsIn(`/proc/${id}`, owner), 0);
}

function threadsIn(directory: string, owner: number | undefined): number {
  try {
    return statSync(directory).uid === owner ? readdirSync(`${directory}/task`).length : 0;
  } catch {
    return 0;
  }
}

function describeReached({ controller }: Cgroup, { memory, processes }: LimitsReport): string {
  if (controller === "memory") {
    return `The sandbox reached its memory limit of ${inUnits(memory.bytes ?? 0)} (limits.memory), so a process in it was killed.`;
  }
  return `The sandbox reached its limit of ${processes.count} processes and threads (limits.processes), so no more could be started.`;
}

function inUnits(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${Number((bytes / 1024 ** power).toFixed(1))} ${units[power]}`;
}

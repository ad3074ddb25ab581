// Limits of one sandbox: control groups where they can be had, limits of each process otherwise, and the truth about it.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Cgroup, groupName, openCgroup } from "./cgroup.ts";
import { type Controller, findTrees, type KernelTables } from "./cgroup-trees.ts";

export interface ResourceLimits {
  memoryBytes: number | null;
  processes: number | null;
}

export type Enforcer = "cgroup-v1" | "cgroup-v2" | "rlimit" | "nothing";

export interface LimitsReport {
  /** A control group counts all processes together, an rlimit each by itself. */
  memory: { bytes: number | null; by: Enforcer };
  /** Threads count as processes. */
  processes: { count: number | null; by: Enforcer };
}

export interface OpenedLimits {
  report: LimitsReport;
  /** The same program, started within the limits. */
  enter(program: string, argv: string[]): { program: string; argv: string[] };
  /** Which limits were met since this was last asked, as sentences. */
  newlyMet(): string[];
  /** Once everything inside has ended. */
  close(): Promise<void>;
}

export function openLimits(wanted: ResourceLimits, tables: KernelTables = readTables()): OpenedLimits {
  const amounts: Record<Controller, number | null> = { memory: wanted.memoryBytes, pids: wanted.processes };
  const name = groupName(randomBytes(6).toString("hex"));
  const groups = findTrees(tables).flatMap((tree): Cgroup[] => {
    const amount = amounts[tree.controller];
    const group = amount === null ? undefined : openCgroup(tree, amount, name);
    return group ? [group] : [];
  });
  const report = reportOf(wanted, groups);
  const met = new Map(groups.map((group) => [group, 0]));
  return {
    report,
    enter: (program, argv) => enter(report, groups, [program, ...argv]),
    newlyMet: () =>
      groups.flatMap((group) => {
        const times = group.timesMet();
        const isNew = times > (met.get(group) ?? 0);
        met.set(group, times);
        return isNew ? [sentenceOf(group, report)] : [];
      }),
    close: async () => void (await Promise.all(groups.map((group) => group.remove()))),
  };
}

/** What would be enforced here; tried out, nothing is left of it. */
export async function describeLimits(wanted: ResourceLimits): Promise<LimitsReport> {
  const limits = openLimits(wanted);
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

function reportOf({ memoryBytes, processes }: ResourceLimits, groups: Cgroup[]): LimitsReport {
  const by = (controller: Controller, amount: number | null): Enforcer => {
    const group = groups.find((one) => one.controller === controller);
    if (group) return `cgroup-v${group.version}`;
    // The kernel does not count the processes of root.
    const counts = controller === "memory" || process.geteuid?.() !== 0;
    return amount === null || !counts || process.platform !== "linux" ? "nothing" : "rlimit";
  };
  return {
    memory: { bytes: memoryBytes, by: by("memory", memoryBytes) },
    processes: { count: processes, by: by("pids", processes) },
  };
}

/** A shell that becomes the program: limited before it runs, at the cost of a millisecond. */
function enter(report: LimitsReport, groups: Cgroup[], argv: string[]): { program: string; argv: string[] } {
  const { memory, processes } = report;
  const steps = groups.map(() => 'echo $$ > "$1"; shift');
  // Address space would be the classic limit, but many run-times reserve far more of it than they use.
  if (memory.by === "rlimit" && memory.bytes !== null) steps.push(`ulimit -d ${Math.ceil(memory.bytes / 1024)}`);
  if (processes.by === "rlimit" && processes.count !== null) {
    // The kernel counts all of the user's threads, wherever they run. Shells do not agree on the letter.
    const most = processes.count + threadsAlive();
    steps.push(`ulimit -u ${most} 2> /dev/null || ulimit -p ${most} 2> /dev/null`);
  }
  const [program = "", ...rest] = argv;
  if (steps.length === 0) return { program, argv: rest };
  const script = [...steps, 'exec "$@"'].join("\n");
  return { program: "/bin/sh", argv: ["-c", script, "limits", ...groups.map((group) => group.membersFile), ...argv] };
}

/** Of the whole machine: an upper bound that costs one small read. */
function threadsAlive(): number {
  return Number(/\/(\d+) /.exec(readFileSync("/proc/loadavg", "utf8"))?.[1] ?? 0);
}

function sentenceOf({ controller }: Cgroup, { memory, processes }: LimitsReport): string {
  if (controller === "memory") {
    return `The sandbox reached its memory limit of ${inUnits(memory.bytes ?? 0)} (limits.memory), so a process in it was ended.`;
  }
  return `The sandbox reached its limit of ${processes.count} processes and threads (limits.processes), so no more could be started.`;
}

function inUnits(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${Number((bytes / 1024 ** power).toFixed(1))} ${units[power]}`;
}

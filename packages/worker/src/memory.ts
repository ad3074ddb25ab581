// How much memory is left for this process: of the machine, or of the limit of its control group.
import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";

export interface MemoryFacts {
  /** What is left of the machine; under a limit, what is not used of it. */
  availableBytes: number;
  /** 0, or more than the machine has: there is no limit. */
  limitBytes: number;
  machineBytes: number;
}

export const readMemory = (): MemoryFacts => ({
  availableBytes: process.availableMemory(),
  limitBytes: process.constrainedMemory() ?? 0,
  machineBytes: totalmem(),
});

export const totalBytes = ({ limitBytes, machineBytes }: MemoryFacts = readMemory()): number =>
  limitBytes > 0 ? Math.min(limitBytes, machineBytes) : machineBytes;

/** Under a limit, cached files count as used, although the kernel gives them up as soon as memory is needed. */
export function availableBytes(facts: MemoryFacts = readMemory(), read: ReadText = readText): number {
  const total = totalBytes(facts);
  if (total >= facts.machineBytes) return facts.availableBytes;
  return Math.min(total, facts.availableBytes + inactiveFileBytes(read));
}

/** Null: there is no such file. */
type ReadText = (path: string) => string | null;

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/** Version 1 counts the groups below only in the total. */
const versions = [
  { line: /^0::(\/.*)$/m, root: "/sys/fs/cgroup", field: /^inactive_file (\d+)$/m },
  {
    line: /^\d+:(?:\w+,)*memory(?:,\w+)*:(\/.*)$/m,
    root: "/sys/fs/cgroup/memory",
    field: /^total_inactive_file (\d+)$/m,
  },
];

/** In a container, the group may be mounted as the root under another name. */
function inactiveFileBytes(read: ReadText): number {
  const groups = read("/proc/self/cgroup") ?? "";
  for (const { line, root, field } of versions) {
    const path = line.exec(groups)?.[1];
    if (path === undefined) continue;
    const stat = read(join(root, path, "memory.stat")) ?? read(join(root, "memory.stat")) ?? "";
    const bytes = field.exec(stat)?.[1];
    if (bytes !== undefined) return Number(bytes);
  }
  return 0;
}

// limits.memory, limits.processes and limits.tmp as numbers, with their defaults.
import type { Limits } from "@agentcli/protocol";
import type { ResourceLimits } from "@agentcli/workspace";

/** Where a program sets none. */
const defaults = { memory: "off", processes: 4096, tmp: "4g" };
const factors: Record<string, number> = { "": 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

export function resourceLimits(limits: Pick<Limits, "memory" | "processes" | "tmp"> = {}): ResourceLimits {
  return {
    memoryBytes: sizeBytes(limits.memory ?? defaults.memory),
    processes: limits.processes ?? defaults.processes,
    temporaryBytes: sizeBytes(limits.tmp ?? defaults.tmp),
    fileBytes: null,
  };
}

/** How a size is written: bytes, or a number with a unit. */
export const sizeForm = /^(\d+(\.\d+)?[kmgt]?|off)$/i;

/** Null for `off`. The schema has checked its form. */
export function sizeBytes(size: string): number | null {
  const [, number, unit = ""] = /^([\d.]+)([kmgt]?)$/i.exec(size) ?? [];
  return number === undefined ? null : Math.floor(Number(number) * (factors[unit.toLowerCase()] ?? 1));
}

// limits.memory and limits.processes as numbers.
import type { Limits } from "@agentcli/protocol";
import type { ResourceLimits } from "@agentcli/workspace";

const defaultProcesses = 4096;
const factors: Record<string, number> = { "": 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

export const resourceLimits = (limits: Limits = {}): ResourceLimits => ({
  memoryBytes: sizeBytes(limits.memory ?? "off"),
  processes: limits.processes ?? defaultProcesses,
});

/** The schema has checked its form. */
function sizeBytes(size: string): number | null {
  const [, number, unit = ""] = /^([\d.]+)([kmgt]?)$/i.exec(size) ?? [];
  return number === undefined ? null : Math.floor(Number(number) * (factors[unit.toLowerCase()] ?? 1));
}

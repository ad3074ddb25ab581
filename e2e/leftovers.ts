// Processes that a run left behind: whatever still works in its repository.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export function leftovers(directory: string): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    try {
      if (!/^\d+$/.test(pid) || !readlinkSync(`/proc/${pid}/cwd`).startsWith(directory)) return [];
      return [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")}`];
    } catch {
      // It ended while we were looking.
      return [];
    }
  });
}

/** Settles when nothing is left; a leftover that stays runs the test into its time limit, which names it. */
export async function nothingLeft(directory: string): Promise<void> {
  while (leftovers(directory).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
}

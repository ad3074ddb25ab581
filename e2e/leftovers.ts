// Processes that a run left behind: whatever still works in its repository.

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { eventually } from "@agentcli/testkit";

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

/** Settles when nothing is left; rejects with what stays. */
export async function nothingLeft(directory: string): Promise<void> {
  await eventually(() => {
    const left = leftovers(directory);
    if (left.length > 0) throw new Error(`Left behind: ${left.join(", ")}`);
  });
}

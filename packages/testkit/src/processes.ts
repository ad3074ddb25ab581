// Child processes in tests: their output, their exit, and whether one still runs in a directory.
import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { eventually } from "./eventually.ts";

export interface ProcessResult {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** Collects the output from now on; resolves when the process has exited and its pipes are closed. */
export function waitForExit(child: ChildProcess): Promise<ProcessResult> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on("data", (chunk) => stdout.push(chunk));
  child.stderr?.on("data", (chunk) => stderr.push(chunk));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) =>
      resolve({ code, signal, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() }),
    );
  });
}

/** Process id and command line of each process whose working directory is below `directory`. */
export function processesIn(directory: string): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    try {
      if (!/^\d+$/.test(pid) || !readlinkSync(`/proc/${pid}/cwd`).startsWith(directory)) return [];
      return [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")}`];
    } catch {
      // It exited after the listing.
      return [];
    }
  });
}

/** Resolves once no process runs in `directory`; rejects with those that stay. */
export async function expectNoProcesses(directory: string): Promise<void> {
  await eventually(() => {
    const running = processesIn(directory);
    if (running.length > 0) throw new Error(`Still running: ${running.join(", ")}`);
  });
}

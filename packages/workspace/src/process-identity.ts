// Identifies a process beyond its end: a process id that is used again belongs to another process.
import { readFileSync } from "node:fs";

export interface ProcessIdentity {
  pid: number;
  /** Clock ticks after boot at which it started. Null outside Linux. */
  startedAt: string | null;
}

export const ownIdentity = (): ProcessIdentity => ({ pid: process.pid, startedAt: startTime(process.pid) });

export const isRunning = ({ pid, startedAt }: ProcessIdentity): boolean => isAlive(pid) && startTime(pid) === startedAt;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function startTime(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}

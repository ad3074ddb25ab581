// Identifies a process beyond its end: a process id that is used again belongs to another process.
import { readFileSync } from "node:fs";

export interface ProcessIdentity {
  pid: number;
  /** Clock ticks after boot at which it started. Null outside Linux. */
  startedAt: string | null;
}

export const identityOf = (pid: number): ProcessIdentity => ({ pid, startedAt: startTime(pid) });

export const ownIdentity = (): ProcessIdentity => identityOf(process.pid);

export const isRunning = ({ pid, startedAt }: ProcessIdentity): boolean => isAlive(pid) && startTime(pid) === startedAt;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Null also for a process that has ended and waits for its parent. */
function startTime(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state = "", ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" || state === "X" ? null : (fields[18] ?? null);
  } catch {
    return null;
  }
}

// The running process of an embedded PostgreSQL, as its pid file tells.
import { readFileSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Place } from "./place.ts";
import { DatabaseProblem } from "./problem.ts";

export interface Postmaster {
  pid: number;
  /** Whoever started it may have had another runtime directory. */
  socketDirectory: string | null;
}

/** Null where none runs. */
export function findPostmaster(place: Place): Postmaster | null {
  const lines = readPidFile(place)?.split("\n") ?? [];
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0 || !isPostmasterOf(pid, place)) return null;
  return { pid, socketDirectory: lines[4]?.startsWith("/") ? lines[4] : null };
}

/** After a crash of the machine its number can be another process's, which PostgreSQL would take for itself. */
export function removeStalePidFile(place: Place): void {
  if (readPidFile(place) !== null && !findPostmaster(place)) rmSync(pidFile(place), { force: true });
}

/** A fast shutdown: clients are cut off, what they committed is kept. */
export async function stopPostmaster(place: Place): Promise<void> {
  const running = findPostmaster(place);
  if (!running) return;
  process.kill(running.pid, "SIGINT");
  const patience = 600;
  for (let look = 0; look < patience; look++) {
    if (findPostmaster(place)?.pid !== running.pid) return;
    await delay(50);
  }
  throw new DatabaseProblem(
    `The embedded PostgreSQL (process ${running.pid}) does not stop. Look into ${place.logFile}.`,
  );
}

const pidFile = ({ cluster }: Place): string => join(cluster, "postmaster.pid");

function readPidFile(place: Place): string | null {
  try {
    return readFileSync(pidFile(place), "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}

/** PostgreSQL's working directory is its cluster. */
function isPostmasterOf(pid: number, { cluster }: Place): boolean {
  try {
    process.kill(pid, 0);
    if (process.platform !== "linux") return true;
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster);
  } catch {
    return false; // Gone, or not ours to look at: then it is another's process.
  }
}

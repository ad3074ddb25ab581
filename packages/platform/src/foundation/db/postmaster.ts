// The running process of an embedded PostgreSQL, as its pid file tells.
import { readFileSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { ClusterPaths } from "./cluster-paths.ts";
import { DatabaseError } from "./database-error.ts";

export interface Postmaster {
  pid: number;
  /** The process that started it may have had another runtime directory. */
  socketDirectory: string | null;
  /** It has made its socket, and is not on its way down. */
  isReady: boolean;
}

/** Null where none runs. */
export function findPostmaster(paths: ClusterPaths): Postmaster | null {
  const lines = readPidFile(paths)?.split("\n") ?? [];
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0 || !isPostmasterOf(pid, paths)) return null;
  return { pid, socketDirectory: lines[4]?.startsWith("/") ? lines[4] : null, isReady: lines[7]?.trim() === "ready" };
}

/** After a crash of the machine its number can be another process's, which PostgreSQL would take for itself. */
export function removeStalePidFile(paths: ClusterPaths): void {
  if (readPidFile(paths) !== null && !findPostmaster(paths)) rmSync(pidFile(paths), { force: true });
}

/** A fast shutdown: clients are cut off, what they committed is kept. */
export async function stopPostmaster(paths: ClusterPaths): Promise<void> {
  const running = findPostmaster(paths);
  if (!running) return;
  process.kill(running.pid, "SIGINT");
  const grace = 600;
  for (let look = 0; look < grace; look++) {
    if (findPostmaster(paths)?.pid !== running.pid) return;
    await delay(50);
  }
  throw new DatabaseError(`The embedded PostgreSQL (process ${running.pid}) does not stop. See ${paths.logFile}.`);
}

const pidFile = ({ cluster }: ClusterPaths): string => join(cluster, "postmaster.pid");

function readPidFile(paths: ClusterPaths): string | null {
  try {
    return readFileSync(pidFile(paths), "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}

/** PostgreSQL's working directory is its cluster. */
function isPostmasterOf(pid: number, { cluster }: ClusterPaths): boolean {
  try {
    process.kill(pid, 0);
    if (process.platform !== "linux") return true;
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster);
  } catch {
    return false; // Gone, or not ours to look at: then it is another's process.
  }
}

// Archived sessions: not listed, and restored on demand.
import { readdirSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { makePrivateDirectory, takeLock } from "@agentcli/host";
import { checkDirectories } from "@agentcli/host/session-files";
import { invalidRequest } from "../method.ts";

const archiveOf = (agentHome: string): string => join(agentHome, "archived_sessions");

export function listArchived(agentHome: string): string[] {
  try {
    return readdirSync(archiveOf(agentHome))
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => join(archiveOf(agentHome), name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

export const archivedPath = (agentHome: string, threadId: string): string | null =>
  listArchived(agentHome).find((path) => path.endsWith(`-${threadId}.jsonl`)) ?? null;

export const archive = (agentHome: string, path: string): void =>
  move(path, join(archiveOf(agentHome), basename(path)));

/** Back to the directory of the date in its name. */
export function unarchive(agentHome: string, path: string): void {
  const [, year, month, day] = /^rollout-(\d{4})-(\d{2})-(\d{2})T/.exec(basename(path)) ?? [];
  if (!year || !month || !day) throw invalidRequest(`${path} is not named as a session is`);
  move(path, join(agentHome, "sessions", year, month, day, basename(path)));
}

/** Never one that is being written, nor through a link or into a directory of others. */
function move(from: string, to: string): void {
  checkDirectories(from);
  checkDirectories(to);
  const attempt = takeLock(`${from}.lock`);
  if (attempt.kind === "busy") throw invalidRequest(`the thread is in use by process ${attempt.pid}; try again later`);
  try {
    makePrivateDirectory(dirname(to));
    renameSync(from, to);
  } finally {
    attempt.lock.release();
  }
}

// Where session files are: sessions/YYYY/MM/DD/rollout-<local time>-<thread id>.jsonl.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { HostError } from "../host-error.ts";

/** Throws for an id that would lead elsewhere: ids of sub-agents come from session files. */
export function newSessionPath(home: string, threadId: string, now: Date): string {
  if (!/^[\w-]{1,128}$/.test(threadId)) throw invalidId(threadId);
  const [year, month, day] = [now.getFullYear(), now.getMonth() + 1, now.getDate()].map(twoDigits);
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map(twoDigits).join("-");
  const name = `rollout-${year}-${month}-${day}T${time}-${threadId}.jsonl`;
  return join(home, "sessions", `${year}`, `${month}`, `${day}`, name);
}

/** All session files, in no particular order. */
export function listSessionPaths(home: string): string[] {
  const root = join(home, "sessions");
  return entries(root)
    .flatMap((year) => entries(join(root, year)).map((month) => join(root, year, month)))
    .flatMap((month) => entries(month).map((day) => join(month, day)))
    .flatMap((day) => entries(day).map((name) => join(day, name)))
    .filter((path) => path.endsWith(".jsonl"));
}

export function findSessionPath(home: string, threadId: string): string | null {
  return listSessionPaths(home).find((path) => path.endsWith(`-${threadId}.jsonl`)) ?? null;
}

function entries(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
}

const twoDigits = (number: number): string => String(number).padStart(2, "0");

const invalidId = (threadId: string): HostError =>
  new HostError("usage", `Invalid thread id ${JSON.stringify(threadId)}: the session file was changed or damaged.`);

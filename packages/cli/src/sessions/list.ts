// Sessions, newest first, without reading more of them than is asked for.
import { realpathSync, statSync } from "node:fs";
import { isLockHeld } from "@agentcli/local";
import { readNames } from "./names.ts";
import { listSessionPaths } from "./paths.ts";
import { type Scan, scanSession } from "./scan.ts";
import { damaged, type SessionSummary, summarise } from "./summary.ts";

export type Where = { in: "directory"; cwd: string } | { in: "everywhere" };

/** Sub-agents have sessions of their own, but it is their parent that a person looks for. */
export function* listSessions(home: string, where: Where): Generator<SessionSummary> {
  const names = readNames(home);
  for (const { path, changedMs } of newestFirst(home)) {
    const scan = scanSession(path);
    if (!scan && where.in === "everywhere" && isAtRest(path)) yield damaged(path, changedMs);
    if (!scan || scan.created.parentId || !belongs(scan, where)) continue;
    yield summarise(path, scan, names.get(scan.created.threadId) ?? null);
  }
}

/** Files may come and go while they are looked at. */
function newestFirst(home: string): { path: string; changedMs: number }[] {
  return listSessionPaths(home)
    .flatMap((path) => {
      const changed = changedMs(path);
      return changed === null ? [] : [{ path, changedMs: changed }];
    })
    .sort((left, right) => right.changedMs - left.changedMs || (left.path < right.path ? 1 : -1));
}

/** Null for a file that is gone. */
export const changedMs = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;

/** A run in a working tree of its own belongs to the directory it was started in as well. */
function belongs({ created, lastTurn }: Scan, where: Where): boolean {
  if (where.in === "everywhere") return true;
  const places = [(lastTurn ?? created).settings.cwd, created.worktree?.startedIn];
  return places.some((place) => place !== undefined && realPath(place) === realPath(where.cwd));
}

/** A file that is gone, or whose first line is just being written, is not a damaged one. */
const isAtRest = (path: string): boolean => changedMs(path) !== null && !isLockHeld(`${path}.lock`);

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

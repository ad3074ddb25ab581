// Sessions, newest first, without reading more of them than is asked for.
import { realpathSync, statSync } from "node:fs";
import { isLockHeld } from "@agentcli/host";
import { readNames, type Scan, scanSession } from "@agentcli/host/session-files";
import { listSessionPaths } from "@agentcli/host/sessions";
import { damaged, type SessionSummary, summarise } from "./summary.ts";

export type Where = { in: "directory"; cwd: string } | { in: "everywhere" };

/** Sub-agents have their own sessions, but users look for the parent. Which directory a damaged one is of is not known. */
export function* listSessions(home: string, where: Where): Generator<SessionSummary> {
  const names = readNames(home);
  for (const { path, changedMs } of newestFirst(home)) {
    const scan = scanSession(path);
    if (!scan && isAtRest(path)) yield damaged(path, changedMs);
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

/** A run in its own working tree belongs to the directory it was started in as well. */
function belongs({ created, lastTurn }: Scan, where: Where): boolean {
  if (where.in === "everywhere") return true;
  const directories = [(lastTurn ?? created).settings.cwd, created.worktree?.startedIn];
  return directories.some((directory) => directory !== undefined && realPath(directory) === realPath(where.cwd));
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

// Which session a resume means.
import { closeSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { basename } from "node:path";
import type { SessionLine } from "@agentcli/protocol";
import { Problem } from "../problem.ts";
import { findSessionPath, listSessionPaths } from "./paths.ts";

export type Session = { by: "id"; id: string } | { by: "last"; anywhere: boolean };

export function findThread(session: Session, home: string, cwd: string): string {
  if (session.by === "id") {
    if (isThreadId(session.id) && findSessionPath(home, session.id)) return session.id;
    throw new Problem(
      "usage",
      `There is no session ${session.id} under ${home}/sessions. Use --last for the newest of this directory.`,
    );
  }
  const newest = newestFirst(listSessionPaths(home)).find((path) => belongs(path, session.anywhere ? null : cwd));
  if (newest) return threadIdOf(newest);
  const where = session.anywhere ? `under ${home}/sessions` : `for ${cwd} (use --all to look in every directory)`;
  throw new Problem("usage", `There is no session to resume ${where}. Start one with: agentcli exec "…"`);
}

function newestFirst(paths: string[]): string[] {
  return paths
    .map((path) => ({ path, changed: statSync(path).mtimeMs }))
    .sort((left, right) => right.changed - left.changed || (left.path < right.path ? 1 : -1))
    .map(({ path }) => path);
}

/** Sub-agents have sessions of their own, but it is their parent that a person resumes. */
function belongs(path: string, cwd: string | null): boolean {
  const first = firstLine(path);
  if (first?.record.type !== "thread.created" || first.record.parentId) return false;
  return cwd === null || realPath(first.record.settings.cwd) === realPath(cwd);
}

function firstLine(path: string): SessionLine | null {
  const file = openSync(path, "r");
  try {
    const pieces: Buffer[] = [];
    for (;;) {
      const block = Buffer.alloc(64 * 1024);
      const length = readSync(file, block, 0, block.length, null);
      const newline = block.subarray(0, length).indexOf(0x0a);
      pieces.push(block.subarray(0, newline === -1 ? length : newline));
      if (newline !== -1) return JSON.parse(Buffer.concat(pieces).toString("utf8"));
      if (length === 0) return null;
    }
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

const isThreadId = (text: string): boolean => /^[0-9a-f-]{36}$/i.test(text);
const threadIdOf = (path: string): string => basename(path, ".jsonl").slice(-36);

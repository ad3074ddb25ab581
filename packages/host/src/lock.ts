// One holder at a time: a lock file that names its holder; a dead holder's lock is taken over.
import { existsSync, linkSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { readUnblocked } from "@agentcli/project";
import { isRunning, ownIdentity } from "@agentcli/workspace";

export interface Lock {
  release(): void;
}

export type LockAttempt = { kind: "held"; lock: Lock } | { kind: "busy"; pid: number };

const maxAttempts = 20;

export function takeLock(path: string): LockAttempt {
  const mine = JSON.stringify(ownIdentity());
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    if (create(path, mine)) return { kind: "held", lock: { release: () => remove(path, mine) } };
    const holder = read(path);
    if (holder === null) continue;
    const { pid, alive } = judge(holder);
    if (alive) return { kind: "busy", pid };
    takeAway(path, holder);
  }
  return { kind: "busy", pid: 0 };
}

/** Whether a living process holds it. */
export function isLockHeld(path: string): boolean {
  const holder = read(path);
  return holder !== null && judge(holder).alive;
}

/** Created atomically with its content: link() fails if the name exists. */
function create(path: string, content: string): boolean {
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, content, { mode: 0o600 });
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    // Not rmSync: what it loads to be able to remove directories costs every start.
    if (existsSync(draft)) unlinkSync(draft);
  }
}

/** Renaming first ensures that only one process takes it over; a process that moved a newer lock by mistake restores it. */
function takeAway(path: string, judged: string): void {
  const aside = `${path}.dead.${process.pid}`;
  try {
    renameSync(path, aside);
    if (read(aside) !== judged) linkSync(aside, path);
    unlinkSync(aside);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "EEXIST") throw error;
  }
}

function remove(path: string, content: string): void {
  if (read(path) === content) unlinkSync(path);
}

function read(path: string): string | null {
  try {
    return readUnblocked(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

function judge(content: string): { pid: number; alive: boolean } {
  try {
    const holder = JSON.parse(content);
    return { pid: holder.pid, alive: isRunning(holder) };
  } catch {
    return { pid: 0, alive: false };
  }
}

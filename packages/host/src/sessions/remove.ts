// Removes sessions, never one that a process is writing.
import { rmSync } from "node:fs";
import { takeLock } from "../lock.ts";

export type Removal = { kind: "removed" } | { kind: "in-use"; pid: number };

export function removeSession(path: string): Removal {
  const attempt = takeLock(`${path}.lock`);
  if (attempt.kind === "busy") return { kind: "in-use", pid: attempt.pid };
  try {
    rmSync(path, { force: true });
    return { kind: "removed" };
  } finally {
    attempt.lock.release();
  }
}

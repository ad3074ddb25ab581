// Removes sessions, never one that somebody is writing.
import { rmSync } from "node:fs";
import { takeLock } from "@agentcli/local";

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

// Removes sessions, never one that a process is writing.
import { rmSync } from "node:fs";
import { HostError } from "../host-error.ts";
import { takeLock } from "../lock.ts";
import { checkDirectories } from "./trusted-file.ts";

export type Removal = { kind: "removed" } | { kind: "in-use"; pid: number } | { kind: "refused"; reason: string };

/** Refused in a directory that is a link or not this user's alone: what is removed would be elsewhere. */
export function removeSession(path: string): Removal {
  try {
    checkDirectories(path);
  } catch (error) {
    if (error instanceof HostError) return { kind: "refused", reason: error.message };
    throw error;
  }
  const attempt = takeLock(`${path}.lock`);
  if (attempt.kind === "busy") return { kind: "in-use", pid: attempt.pid };
  try {
    rmSync(path, { force: true });
    return { kind: "removed" };
  } finally {
    attempt.lock.release();
  }
}

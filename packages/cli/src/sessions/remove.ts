// Removes sessions, never one that somebody is writing.
import { rmSync } from "node:fs";
import { Problem } from "../problem.ts";
import { takeLock } from "./lock.ts";

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

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** 30d, 12h, 45m, 2w. */
export function ageMs(text: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(m|h|d|w)$/.exec(text) ?? [];
  if (amount !== undefined) return Number(amount) * unitMs[unit as keyof typeof unitMs];
  throw new Problem("usage", `--older-than ${text}: expected a number and m, h, d or w, for example 30d.`);
}

// What happens to a planned firing whose time has come. Pure.
import type { MissedPolicy } from "@agentcli/protocol/api";

/** So late a firing is not missed yet: it starts, whatever the policy. */
export const graceMs = 10 * 60_000;

export type Verdict = { kind: "start" } | { kind: "skipped"; reason: string } | { kind: "missed"; reason: string };

export interface DueFiring {
  plannedAt: Date;
  /** The firing of the same trigger after it; null: there is none. */
  next: Date | null;
  now: Date;
  missed: MissedPolicy;
}

export function judgeDue({ plannedAt, next, now, missed }: DueFiring): Verdict {
  if (next !== null && next <= now) {
    return missed === "catch_up"
      ? { kind: "skipped", reason: "No server started it in time; a later firing of the trigger stands for it." }
      : { kind: "missed", reason: notInTime };
  }
  const lateMs = now.getTime() - plannedAt.getTime();
  if (lateMs <= graceMs || missed === "catch_up") return { kind: "start" };
  return { kind: "missed", reason: notInTime };
}

const notInTime = "No server with the role scheduler started it in time.";

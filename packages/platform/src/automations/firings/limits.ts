// Whether the limits of an automation let a firing start. Pure.
import type { AutomationLimits } from "@agentcli/protocol/api";
import { decimalUsd } from "@agentcli/protocol/money";

/** What other firings of the automation use. */
export interface Use {
  /** Runs that are active or about to start, without those that are being cancelled. */
  active: number;
  /** Firings that wait, without this one. */
  waiting: number;
  /** Within the last hour. */
  starts: number;
  /** Of today; active runs with what they may cost. */
  usdToday: number;
}

export type Admission =
  /** `replaced`: how many of the oldest active runs end for it. */
  | { kind: "admitted"; budgetUsd: number | null; replaced: number }
  | { kind: "waits"; reason: string }
  /** `isAlert`: its owner has to know. */
  | { kind: "refused"; reason: string; isAlert: boolean };

/** So many may wait; a queue that only grows is never worked off. */
export const maxWaiting = 100;

export function judgeLimits(limits: AutomationLimits, use: Use): Admission {
  const { concurrent = Infinity, whenBusy, startsPerHour = Infinity } = limits;
  const isBusy = use.active >= concurrent;
  const busy = `${use.active} of ${concurrent} runs are active`;
  if (isBusy && whenBusy === "drop") return { kind: "refused", reason: `${busy}.`, isAlert: false };
  if (isBusy && whenBusy === "queue" && use.waiting >= maxWaiting)
    return { kind: "refused", reason: `${busy}, and ${use.waiting} firings wait already.`, isAlert: true };
  if (use.starts >= startsPerHour) {
    const reason = `It has started ${use.starts} times within an hour; limits.startsPerHour is ${startsPerHour}.`;
    return { kind: "refused", reason, isAlert: true };
  }
  const budget = budgetOf(limits, use);
  if (budget.kind === "refused") return budget;
  if (isBusy && whenBusy === "queue") return { kind: "waits", reason: `Waits: ${busy}.` };
  return { kind: "admitted", budgetUsd: budget.usd, replaced: isBusy ? use.active - concurrent + 1 : 0 };
}

type RunBudget = { kind: "allowed"; usd: number | null } | Extract<Admission, { kind: "refused" }>;

function budgetOf({ usdPerRun, usdPerDay }: AutomationLimits, { usdToday }: Use): RunBudget {
  const perRun = usdPerRun === undefined ? null : Number(usdPerRun);
  if (usdPerDay === undefined) return { kind: "allowed", usd: perRun };
  const left = Number((Number(usdPerDay) - usdToday).toFixed(6));
  if (left > 0 && left >= (perRun ?? 0)) return { kind: "allowed", usd: perRun ?? left };
  const spent = `Runs of today have cost, or may still cost, ${decimalUsd(usdToday)} USD`;
  return {
    kind: "refused",
    reason: `${spent}; limits.usdPerDay is ${usdPerDay}${perRun === null ? "" : `, and each run may cost ${usdPerRun}`}.`,
    isAlert: true,
  };
}

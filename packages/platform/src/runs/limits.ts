// What ends a run from outside before it ends itself: its time, and what its user and team may spend.
import type { StopReason } from "@agentcli/engine";
import { durationMs, longestTimerMs } from "@agentcli/project";
import type { Kysely } from "kysely";
import type { Settings } from "../config/index.ts";
import type { Tables } from "../db/index.ts";
import type { OpenedRun } from "./records.ts";
import { leftToSpend } from "./spend.ts";

export interface Limited {
  signal: AbortSignal;
  release(): void;
}

/** Time counts from the start of the run, also where it has changed hands meanwhile. */
export function limitRun(
  signal: AbortSignal,
  { run, spender }: OpenedRun,
  { db, settings }: { db: Kysely<Tables>; settings: Settings },
): Limited {
  const stop = new AbortController();
  const { limits, budget } = settings.models;
  const walls = [
    { code: "limit" as const, wallMs: durationMs(limits?.wall ?? "off") },
    { code: "budget" as const, wallMs: durationMs(budget?.wall ?? "off") },
  ];
  const sinceStartMs = Date.now() - run.startedAt.getTime();
  const timers = walls.flatMap(({ code, wallMs }) => {
    if (wallMs === null || wallMs > longestTimerMs) return [];
    const message = `The run reached its wall ${code} of ${wallMs} ms.`;
    return setTimeout(() => stop.abort(stopped({ code, message, limit: "wall" })), Math.max(0, wallMs - sinceStartMs));
  });
  const looking = setInterval(async () => {
    // What cannot be looked up now is looked up the next time.
    const left = await leftToSpend(db, spender).catch(() => null);
    if (left === 0) stop.abort(stopped({ code: "budget", message: spendReached, limit: "spend" }));
    else if (left !== null && (await isUncounted(db, run.id).catch(() => false)))
      stop.abort(stopped({ code: "budget", message: uncounted, limit: "price" }));
  }, settings.leaseMs / 3);
  // Not AbortSignal.any: Node 20 keeps such a signal for ever once somebody has listened to it.
  const passOn = () => stop.abort(signal.reason);
  if (signal.aborted) passOn();
  signal.addEventListener("abort", passOn);
  return {
    signal: stop.signal,
    release() {
      signal.removeEventListener("abort", passOn);
      for (const timer of timers) clearTimeout(timer);
      clearInterval(looking);
    },
  };
}

/** It has asked a model whose price is not known, perhaps through a sub-agent of the repository's. */
async function isUncounted(db: Kysely<Tables>, runId: string): Promise<boolean> {
  const run = await db.selectFrom("runs").select("cost_usd").where("id", "=", runId).executeTakeFirst();
  return run?.cost_usd === null;
}

const uncounted =
  "The run asks a model whose price is not known, and a spend limit holds here. Name another model, or ask who runs the platform to write its price below [prices.NAME] in the configuration.";

export const spendReached = "The spend limit of this month is reached; ask an admin to raise it.";

const stopped = (why: { code: "limit" | "budget"; message: string; limit: string }): StopReason => ({
  end: { status: "failed", ...why },
});

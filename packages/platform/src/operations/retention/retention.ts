// Applies the retention rules of all subjects on a schedule, on one server of the database at a time.
import { setTimeout as pause } from "node:timers/promises";
import {
  type Activity,
  openClient,
  type PlatformContext,
  type RetentionRule,
  type Subject,
} from "../../foundation/index.ts";
import { draftRetention } from "./drafts.ts";

export type RetentionContext = Pick<PlatformContext, "connection" | "settings" | "log" | "metrics">;

/** The rules of all subjects, and the one for the files of the server itself. */
export const openRetention = (context: RetentionContext, rules: RetentionRule[]): Subject => ({
  activities: [
    { role: "scheduler", start: () => startRetention(context, [...rules, draftRetention(context.settings)]) },
  ],
});

/** The first round begins at once: a server that is restarted often still removes what is due. */
export function startRetention(context: RetentionContext, rules: RetentionRule[]): Activity {
  const { settings, log } = context;
  const stopping = new AbortController();
  const { signal } = stopping;
  const keepOn = async (): Promise<void> => {
    while (!signal.aborted) {
      await runRound(context, rules, signal).catch((error: unknown) => {
        if (!signal.aborted) log.error("retention.failed", error);
      });
      await pause(settings.retention.intervalSeconds * 1_000, undefined, { signal }).catch(() => {});
    }
  };
  const running = keepOn();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

const lockNumber = 7420_0004;

/** The lock ends with its connection, so a killed server leaves none. A server that loses it stops after its batch. */
async function runRound(context: RetentionContext, rules: RetentionRule[], stopped: AbortSignal): Promise<void> {
  const client = await openClient(context.connection);
  const lost = new AbortController();
  client.on("end", () => lost.abort());
  const signal = AbortSignal.any([stopped, lost.signal]);
  try {
    const { rows } = await client.query<{ held: boolean }>("select pg_try_advisory_lock($1) as held", [lockNumber]);
    if (!rows[0]?.held) return;
    for (const rule of rules) if (!signal.aborted) await apply(rule, context, signal);
  } finally {
    await client.end();
  }
}

/** A rule that fails does not keep the others from being applied. */
async function apply(rule: RetentionRule, { log, metrics }: RetentionContext, signal: AbortSignal): Promise<void> {
  const removed = metrics.counter("platform_retention_removed_total", "What was removed after its retention");
  let total = 0;
  try {
    for await (const count of paced(rule, signal)) {
      total += count;
      removed.add({ kind: rule.name }, count);
    }
  } catch (error) {
    if (!signal.aborted) log.error("retention.failed", error, { kind: rule.name });
  }
  if (total > 0) log.info("retention.removed", { kind: rule.name, count: total });
}

/** A fiftieth of the time is spent removing: requests meanwhile take hardly longer (bench/platform-retention.mjs). */
const pausesPerWork = 49;
const minPauseMs = 20;

async function* paced(rule: RetentionRule, signal: AbortSignal): AsyncGenerator<number> {
  let startedAt = performance.now();
  for await (const count of rule.remove()) {
    yield count;
    const workMs = performance.now() - startedAt;
    await pause(Math.max(minPauseMs, workMs * pausesPerWork), undefined, { signal });
    startedAt = performance.now();
  }
}

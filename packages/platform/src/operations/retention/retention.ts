// Applies the retention rules of all subjects on a schedule, on one server of the database at a time.
import { setTimeout as pause } from "node:timers/promises";
import {
  type Activity,
  openClient,
  type PlatformContext,
  type RetentionRule,
  readDataId,
  type Subject,
} from "../../foundation/index.ts";
import { draftRetention } from "./drafts.ts";

export type RetentionContext = Pick<PlatformContext, "connection" | "settings" | "log" | "metrics">;

/** The rules of all subjects, and the one for the files of the server itself. */
export function openRetention(context: RetentionContext, ofSubjects: RetentionRule[]): Subject {
  const rules = [...ofSubjects, draftRetention(context.settings)];
  const local = rules.filter((rule) => rule.in === "data directory");
  const others = rules.filter((rule) => rule.in === undefined);
  return {
    activities: [
      { role: "scheduler", start: () => startRetention(context, others) },
      // Servers that share a data directory have the same id.
      {
        role: "every server",
        start: () => startRetention(context, local, readDataId(context.settings.dataDirectory)),
      },
    ],
  };
}

/**
 * The first round begins at once: a server that is restarted often still removes what is due. Of all servers with the same
 * `group` one applies the rules at a time.
 */
export function startRetention(context: RetentionContext, rules: RetentionRule[], group = ""): Activity {
  const { settings, log } = context;
  const stopping = new AbortController();
  const { signal } = stopping;
  const keepOn = async (): Promise<void> => {
    while (!signal.aborted) {
      await runRound({ ...context, rules, group }, signal).catch((error: unknown) => {
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

interface Round extends RetentionContext {
  rules: RetentionRule[];
  group: string;
}

const lockNumber = 7420_0004;

/** The lock ends with its connection, so a killed server leaves none. A server that loses it stops after its batch. */
async function runRound({ rules, group, ...context }: Round, stopped: AbortSignal): Promise<void> {
  const client = await openClient(context.connection);
  const lost = new AbortController();
  client.on("end", () => lost.abort());
  const signal = AbortSignal.any([stopped, lost.signal]);
  try {
    const tryLock = "select pg_try_advisory_lock($1, hashtext($2)) as held";
    const { rows } = await client.query<{ held: boolean }>(tryLock, [lockNumber, group]);
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

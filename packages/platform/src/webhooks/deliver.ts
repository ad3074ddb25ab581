// One attempt of one delivery: what is due is read, sent, and what became of it written down with when to try again.
import { sql } from "kysely";
import { addJob } from "../jobs/index.ts";
import type { NetworkPolicy } from "../network/index.ts";
import type { Platform } from "../platform.ts";
import { type Due, readDue } from "./due.ts";
import { headersOf } from "./message.ts";
import { type DeliveryJob, deliveryTask, goneForGood, jobKey } from "./outbox.ts";
import { nextAttemptAt } from "./schedule.ts";
import { type Outcome, send } from "./send.ts";

export interface DeliveryHost {
  platform: Pick<Platform, "db" | "vault" | "log" | "metrics">;
  policy: NetworkPolicy;
  publicUrl(): string;
  now(): Date;
  limitMs: number;
}

export const deliveryLimitMs = 10_000;

/** Throws where the server stops: the attempt was not made, and another server makes it. */
export async function attemptDelivery(host: DeliveryHost, job: DeliveryJob, signal: AbortSignal): Promise<void> {
  const due = await readDue(host, job);
  if (!due) return;
  const startedAt = host.now();
  const { deliveryId } = job;
  const headers = headersOf(due.body, { ...due, deliveryId, sentAt: startedAt });
  const outcome = await send({ url: due.url, headers, body: due.body }, host, signal);
  const endedAt = host.now();
  await writeDown(host, { job, due, outcome, startedAt, durationMs: endedAt.getTime() - startedAt.getTime() });
  const { log, metrics } = host.platform;
  log.info("webhook.attempted", { deliveryId, attempt: job.attempt, outcome: outcome.kind });
  metrics.counter("platform_webhook_attempts_total", "Attempts to deliver webhooks").add({ outcome: outcome.kind });
}

interface Attempt {
  job: DeliveryJob;
  due: Due;
  outcome: Outcome;
  startedAt: Date;
  durationMs: number;
}

/** Only where nobody else has made the attempt meanwhile, as when this server was taken for dead. */
async function writeDown({ platform }: DeliveryHost, attempt: Attempt): Promise<void> {
  const { job, outcome, startedAt, durationMs } = attempt;
  const next = planAfter(attempt);
  await platform.db.transaction().execute(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable("webhook_deliveries")
      .set({ ...next, attempts: job.attempt, queued_at: next.next_attempt_at && sql<Date>`now()` })
      .where("id", "=", job.deliveryId)
      .where("status", "=", "waiting")
      .where("attempts", "=", job.attempt - 1)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) return;
    await tx
      .insertInto("webhook_attempts")
      .values({
        delivery_id: job.deliveryId,
        number: job.attempt,
        started_at: startedAt,
        duration_ms: durationMs,
        outcome: outcome.kind,
        response_status: "responseStatus" in outcome ? outcome.responseStatus : null,
      })
      .execute();
    if (!next.next_attempt_at) return;
    const payload: DeliveryJob = { deliveryId: job.deliveryId, attempt: job.attempt + 1 };
    const again = addJob({
      task: deliveryTask,
      payload: sql`${JSON.stringify(payload)}::json`,
      key: jobKey(sql`${job.deliveryId}::text`),
      runAt: sql`${next.next_attempt_at}::timestamptz`,
    });
    await sql`select ${again}`.execute(tx);
  });
}

function planAfter({ outcome, startedAt, job, due }: Attempt) {
  if (outcome.kind === "delivered") return { status: "delivered" as const, next_attempt_at: null };
  const next = isGone(outcome) ? null : nextAttemptAt(startedAt, job.attempt - due.attemptsBefore);
  return { status: next ? ("waiting" as const) : ("dead" as const), next_attempt_at: next };
}

/** Whoever answers 410 wants no more of it. */
const isGone = (outcome: Outcome): boolean => outcome.kind === "refused" && outcome.responseStatus === goneForGood;

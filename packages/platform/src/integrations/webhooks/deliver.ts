// One attempt of one delivery: read it, send it, record the outcome and schedule the next attempt.
import { sql } from "kysely";
import type { Metrics } from "../../foundation/index.ts";
import { addJob } from "../../operations/index.ts";
import { type DueDelivery, readDue } from "./due.ts";
import type { DeliveryHost } from "./host.ts";
import { headersOf } from "./message.ts";
import { type DeliveryJob, deliveryTask, goneStatus, jobKey, queueOf } from "./outbox.ts";
import { nextAttemptAt } from "./schedule.ts";
import { type Outcome, send } from "./send.ts";

export const deliveryTimeoutMs = 10_000;

/** Throws when the server is stopping: the attempt was not made, another server will make it. */
export async function attemptDelivery(host: DeliveryHost, job: DeliveryJob, signal: AbortSignal): Promise<void> {
  const due = await readDue(host, job);
  if (!due) return;
  const startedAt = host.now();
  const { deliveryId } = job;
  const headers = headersOf(due.body, { ...due, deliveryId, sentAt: startedAt });
  const outcome = await send({ url: due.url, headers, body: due.body }, host, signal);
  const endedAt = host.now();
  const attempt = { job, due, outcome, startedAt, durationMs: endedAt.getTime() - startedAt.getTime() };
  await recordAttempt(host, attempt);
  host.platform.log.info("webhook.attempted", { deliveryId, attempt: job.attempt, outcome: outcome.kind });
  const { attempts, deliveries, lasted } = addDeliveryMetrics(host.platform.metrics);
  attempts.add({ outcome: outcome.kind });
  lasted.observe(attempt.durationMs / 1_000);
  const { status } = planAfter(attempt);
  if (status !== "waiting") deliveries.add({ status });
}

/** The series of known labels begin at zero, so that the first failure is an increase. */
export function addDeliveryMetrics(metrics: Metrics) {
  const all = {
    attempts: metrics.counter("platform_webhook_attempts_total", "Attempts to deliver webhooks, by outcome"),
    deliveries: metrics.counter(
      "platform_webhook_deliveries_total",
      "Deliveries of webhooks that ended: delivered, or dead after the last attempt",
    ),
    lasted: metrics.duration("platform_webhook_attempt_duration_seconds", "Time of an attempt to deliver a webhook"),
  };
  for (const outcome of ["delivered", "refused", "timed_out", "unreachable", "forbidden"])
    all.attempts.add({ outcome }, 0);
  for (const status of ["delivered", "dead"]) all.deliveries.add({ status }, 0);
  return all;
}

interface Attempt {
  job: DeliveryJob;
  due: DueDelivery;
  outcome: Outcome;
  startedAt: Date;
  durationMs: number;
}

/** Only if no other server has made the attempt meanwhile, which happens when this server was considered dead. */
async function recordAttempt({ platform }: DeliveryHost, attempt: Attempt): Promise<void> {
  const { job, due, outcome, startedAt, durationMs } = attempt;
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
    const retry = addJob({
      task: deliveryTask,
      payload: sql`${JSON.stringify(payload)}::json`,
      key: jobKey(sql`${job.deliveryId}::text`),
      runAt: sql`${next.next_attempt_at}::timestamptz`,
      queue: queueOf(sql`${due.teamId}::text`, sql`${job.deliveryId}::text`),
    });
    await sql`select ${retry}`.execute(tx);
  });
}

function planAfter({ outcome, startedAt, job, due }: Attempt) {
  if (outcome.kind === "delivered") return { status: "delivered" as const, next_attempt_at: null };
  const next = isGone(outcome) ? null : nextAttemptAt(startedAt, job.attempt - due.attemptsBefore);
  return { status: next ? ("waiting" as const) : ("dead" as const), next_attempt_at: next };
}

/** 410: the receiver wants no further deliveries. */
const isGone = (outcome: Outcome): boolean => outcome.kind === "refused" && outcome.responseStatus === goneStatus;

// Webhooks and deliveries in the database; URL and secret are sealed with the agent's data key.
import type { WebhookDelivery } from "@agentcli/protocol/api";
import { type Kysely, type Selectable, sql } from "kysely";
import {
  type DataKey,
  notify,
  type Queries,
  recordAuditEvent,
  type Tables,
  type WebhookAttemptTable,
  type WebhookVersion,
} from "../../foundation/index.ts";
import { eventOf } from "./message.ts";
import { outboxChannel } from "./outbox.ts";

export interface NewWebhook {
  url: string;
  secret?: string | undefined;
  version: WebhookVersion;
}

export async function insertWebhook(
  db: Queries,
  { agentId, key, webhook }: { agentId: string; key: DataKey; webhook: NewWebhook },
): Promise<void> {
  const { url, secret, version } = webhook;
  await db
    .insertInto("webhooks")
    .values({
      agent_id: agentId,
      version,
      url: key.seal(url, urlSealContext(agentId)),
      secret: secret === undefined ? null : key.seal(secret, secretSealContext(agentId)),
    })
    .execute();
}

export interface DeliveryFilter {
  limit: number;
  /** The last delivery of the previous page. */
  after: { createdAt: Date; id: string } | null;
  status?: WebhookDelivery["status"] | undefined;
}

/** Newest first; one more than the limit if there is a next page. */
export async function listDeliveries(
  db: Kysely<Tables>,
  agentId: string,
  { limit, after, status }: DeliveryFilter,
): Promise<WebhookDelivery[]> {
  let query = deliveries(db, agentId)
    .orderBy("webhook_deliveries.created_at", "desc")
    .orderBy("webhook_deliveries.id", "desc")
    .limit(limit + 1);
  if (status) query = query.where("status", "=", storedStatus[status]);
  if (after)
    query = query.where(
      sql<boolean>`(webhook_deliveries.created_at, webhook_deliveries.id) < (${after.createdAt}, ${after.id})`,
    );
  const rows = await query.execute();
  const attempts = await attemptsOf(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => deliveryOf(row, attempts.get(row.id) ?? []));
}

/** Restarts the schedule under the same id, unless an attempt is due already. Null if there is no such delivery. */
export async function redeliver(
  db: Kysely<Tables>,
  agentId: string,
  deliveryId: string,
): Promise<WebhookDelivery | null> {
  await db.transaction().execute((tx) => restart(tx, agentId, deliveryId));
  const row = await deliveries(db, agentId).where("webhook_deliveries.id", "=", deliveryId).executeTakeFirst();
  return row ? deliveryOf(row, (await attemptsOf(db, [deliveryId])).get(deliveryId) ?? []) : null;
}

async function restart(tx: Queries, agentId: string, deliveryId: string): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable("webhook_deliveries")
    .set(({ ref }) => ({
      status: "waiting" as const,
      attempts_before: ref("attempts"),
      next_attempt_at: new Date(),
      queued_at: null,
    }))
    .where("id", "=", deliveryId)
    .where("agent_id", "=", agentId)
    .where((where) => where.or([where("next_attempt_at", "is", null), where("next_attempt_at", ">", sql<Date>`now()`)]))
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) return;
  await recordAuditEvent(tx, { action: "webhook_delivery.wanted_again", subject: deliveryId, data: { agentId } });
  await notify(tx, outboxChannel, deliveryId);
}

const deliveries = (db: Kysely<Tables>, agentId: string) =>
  db
    .selectFrom("webhook_deliveries")
    .innerJoin("webhooks", "webhooks.agent_id", "webhook_deliveries.agent_id")
    .selectAll("webhook_deliveries")
    .select("version")
    .where("webhook_deliveries.agent_id", "=", agentId);

type DeliveryRow = Selectable<Tables["webhook_deliveries"]> & { version: WebhookVersion };
type AttemptRow = Selectable<WebhookAttemptTable>;

async function attemptsOf(db: Kysely<Tables>, ids: string[]): Promise<Map<string, AttemptRow[]>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("webhook_attempts")
    .selectAll()
    .where("delivery_id", "in", ids)
    .orderBy("number")
    .execute();
  return new Map(ids.map((id) => [id, rows.filter(({ delivery_id }) => delivery_id === id)]));
}

const shownStatus = { waiting: "WAITING", delivered: "DELIVERED", dead: "DEAD" } as const;
const storedStatus = { WAITING: "waiting", DELIVERED: "delivered", DEAD: "dead" } as const;

const deliveryOf = (row: DeliveryRow, attempts: AttemptRow[]): WebhookDelivery => ({
  id: row.id,
  runId: row.run_id,
  event: eventOf(row.version),
  status: shownStatus[row.status],
  createdAt: row.created_at.toISOString(),
  ...(row.next_attempt_at && { nextAttemptAt: row.next_attempt_at.toISOString() }),
  // An attempt made between the two queries is not part of this state.
  attempts: attempts
    .filter(({ number }) => number <= row.attempts)
    .map(({ started_at, duration_ms, outcome, response_status }) => ({
      startedAt: started_at.toISOString(),
      durationMs: duration_ms,
      outcome,
      ...(response_status !== null && { responseStatus: response_status }),
    })),
});

export const urlSealContext = (agentId: string): string => `webhook-url:${agentId}`;
export const secretSealContext = (agentId: string): string => `webhook-secret:${agentId}`;
export const bodySealContext = (deliveryId: string): string => `webhook-body:${deliveryId}`;

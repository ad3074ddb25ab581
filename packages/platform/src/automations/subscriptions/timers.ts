// Timers of subscriptions, and the end of those that were not renewed.
import { sql } from "kysely";
import { teamKey } from "../../foundation/index.ts";
import type { AutomationHost } from "../host.ts";
import { insertEvent, nextAt, openFilter, type SubscriptionRow } from "./store.ts";

const batchSize = 100;

/** A timer fires late, never early, and each of its times once. */
export async function fireTimers(host: AutomationHost): Promise<void> {
  const { db, vault } = host.platform;
  const now = host.now();
  await db.transaction().execute(async (tx) => {
    const due = await tx
      .selectFrom("subscriptions")
      .selectAll()
      .where("status", "=", "active")
      .where("next_at", "<=", now)
      .orderBy("next_at")
      .limit(batchSize)
      .forUpdate()
      .skipLocked()
      .execute();
    for (const row of due) {
      const key = await teamKey(tx, vault, row.team_id);
      const filter = openFilter(key, row);
      if (filter.source !== "timer" || row.next_at === null) continue;
      const at = row.next_at.toISOString();
      const entry = JSON.stringify({
        event: "timer",
        at,
        ...(filter.cron && { cron: filter.cron }),
        text: filter.note,
      });
      await insertEvent({ db: tx, key, now }, { subscription: row, eventId: `timer ${at}`, entry, causes: [] });
      await tx.updateTable("subscriptions").set(afterFiring(filter, now)).where("id", "=", row.id).execute();
    }
  });
}

function afterFiring(
  filter: Parameters<typeof nextAt>[0],
  now: Date,
): Partial<Pick<SubscriptionRow, "status" | "ended_reason" | "next_at">> {
  const next = filter.cron === undefined ? null : nextAt(filter, now);
  return next === null ? { status: "done", ended_reason: "The timer has fired.", next_at: null } : { next_at: next };
}

export async function expireSubscriptions({ platform: { db }, now }: AutomationHost): Promise<void> {
  await db
    .updateTable("subscriptions")
    .set({ status: "expired", ended_reason: sql<string>`'Its time has passed.'`, next_at: null })
    .where("status", "=", "active")
    .where("expires_at", "<=", now())
    .execute();
}

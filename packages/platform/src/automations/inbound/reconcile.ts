// Finds deliveries that never came: the host does not repeat them by itself, so the platform asks for them, again and again.
import { sizeBytes } from "@agentcli/host";
import { sql } from "kysely";
import { type Activity, ApiError, teamKey } from "../../foundation/index.ts";
import { type HookDeliveries, type HookDelivery, RepositoryFault } from "../../repositories/index.ts";
import type { AutomationHost } from "../host.ts";
import { repeat } from "../repeat.ts";
import { defaultStored, storeDelivery } from "./deliveries.ts";
import { findSource } from "./store.ts";

const intervalMs = 5 * 60_000;
/** So far back the first time; GitHub keeps deliveries for three days. */
const firstMs = 60 * 60_000;
const maxMs = 3 * 24 * 60 * 60_000;
/** Those that may still be on their way. */
const graceMs = 60_000;
/** A delivery may be listed late. */
const overlapMs = 10 * 60_000;
const maxRecovered = 200;
/** At a time; those are left out, so that later ones do not wait for them. */
const maxUnreadable = 10;
/** That are kept. */
const maxFailures = 5;
const timeoutMs = 60_000;

export const startReconciling = (host: AutomationHost): Activity =>
  repeat(host, {
    failure: "automations.deliveries_not_listed",
    work: async () => void (await reconcile(host)),
    intervalMs,
  });

/** How many it has found; at most once per interval over all servers. */
export async function reconcile(host: AutomationHost): Promise<number> {
  const { hookDeliveries, now } = host;
  if (hookDeliveries === null || !(await hasSources(host))) return 0;
  const seenUntil = await claim(host);
  if (seenUntil === undefined) return 0;
  const since = Math.max(now().getTime() - maxMs, (seenUntil?.getTime() ?? now().getTime() - firstMs) - overlapMs);
  try {
    const found = await recover(host, { from: hookDeliveries, since: new Date(since) });
    if (found.failure !== null) host.platform.log.warn("automations.deliveries_missing", { error: found.failure });
    await note(host, found);
    return found.recovered;
  } catch (error) {
    if (!(error instanceof RepositoryFault) && !(error instanceof ApiError)) throw error;
    host.platform.log.warn("automations.deliveries_not_listed", { error: error.message });
    await note(host, { recovered: 0, seenUntil: null, failure: error.message });
    return 0;
  }
}

const hasSources = async ({ platform: { db } }: AutomationHost): Promise<boolean> =>
  (await db.selectFrom("event_sources").select("id").where("type", "=", "github").limit(1).executeTakeFirst()) !==
  undefined;

const connection = "github";

/** Until when deliveries are known, null: there was no poll; undefined: it is not time yet. */
async function claim({ platform: { db }, now }: AutomationHost): Promise<Date | null | undefined> {
  const next_at = new Date(now().getTime() + intervalMs / 2);
  const row = await db
    .insertInto("delivery_polls")
    .values({ connection, next_at })
    .onConflict((conflict) =>
      conflict.column("connection").doUpdateSet({ next_at }).where("delivery_polls.next_at", "<=", now()),
    )
    .returning("seen_until")
    .executeTakeFirst();
  return row?.seen_until;
}

interface Found {
  recovered: number;
  seenUntil: Date | null;
  /** What is missing, and why. */
  failure: string | null;
}

async function recover(host: AutomationHost, { from, since }: { from: HookDeliveries; since: Date }): Promise<Found> {
  const signal = AbortSignal.timeout(timeoutMs);
  const until = new Date(host.now().getTime() - graceMs);
  const { deliveries, isCut } = await from.list(since, signal);
  const listed = deliveries.filter(({ deliveredAt }) => deliveredAt <= until).toReversed();
  const unknown = await withoutKnown(host, listed);
  const taken = unknown.slice(0, maxRecovered);
  const failures = isCut ? [cutMessage(since, deliveries)] : [];
  let recovered = 0;
  let unreadable = 0;
  for (const delivery of taken) {
    try {
      const { url, payload } = await from.read(delivery.id, signal);
      if (await store(host, { delivery, url, payload })) recovered += 1;
    } catch (error) {
      // A full team gets no more than by its webhook. Many that cannot be read, or all, are the host's failure.
      if (error instanceof RepositoryFault) unreadable += 1;
      else if (!(error instanceof ApiError)) throw error;
      if (signal.aborted || unreadable > maxUnreadable || unreadable === taken.length) throw error;
      failures.push(`Delivery ${delivery.guid}: ${error.message}`);
    }
  }
  // The rest is for the next time.
  const seenUntil = unknown.length > taken.length ? (taken.at(-1)?.deliveredAt ?? null) : until;
  return { recovered, seenUntil, failure: failures.length > 0 ? failures.slice(0, maxFailures).join(" ") : null };
}

const cutMessage = (since: Date, deliveries: HookDelivery[]): string =>
  `There were more than ${deliveries.length} deliveries since ${since.toISOString()}: those before ${deliveries.at(-1)?.deliveredAt.toISOString()} were not looked at. Send them again in the settings of the GitHub App.`;

async function withoutKnown({ platform: { db } }: AutomationHost, listed: HookDelivery[]): Promise<HookDelivery[]> {
  const byId = new Map(listed.map((delivery) => [delivery.guid, delivery]));
  if (byId.size === 0) return [];
  const ids = [...byId.keys()];
  const known = await db.selectFrom("inbound_events").select("delivery_id").where("delivery_id", "in", ids).execute();
  for (const { delivery_id } of known) byId.delete(delivery_id);
  return [...byId.values()];
}

/** False for one that was sent to an address which is not, or no more, one of the platform. */
async function store(
  { platform: { db, vault, settings } }: AutomationHost,
  { delivery, url, payload }: { delivery: HookDelivery; url: string; payload: object },
): Promise<boolean> {
  const [, id = ""] = /\/events\/github\/([0-9a-f-]{36})\/?$/i.exec(url) ?? [];
  const source = await findSource(db, id.toLowerCase());
  if (source === null) return false;
  const key = await teamKey(db, vault, source.team_id);
  const body = Buffer.from(JSON.stringify(payload));
  const about = { source, key, body, deliveryId: delivery.guid, name: delivery.event, via: "poll" as const };
  return storeDelivery(db, about, sizeBytes(settings.models.limits?.events ?? defaultStored));
}

async function note({ platform: { db } }: AutomationHost, { recovered, seenUntil, failure }: Found): Promise<void> {
  await db
    .updateTable("delivery_polls")
    .set({ failure, recovered: sql`recovered + ${recovered}`, ...(seenUntil && { seen_until: seenUntil }) })
    .where("connection", "=", connection)
    .execute();
}

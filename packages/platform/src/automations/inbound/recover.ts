// Fetches deliveries of one webhook that never came, and stores them like those that did.
import { sizeBytes } from "@agentcli/host";
import { ApiError, teamKey } from "../../foundation/index.ts";
import { type HookDeliveries, type HookDelivery, RepositoryFault } from "../../repositories/index.ts";
import type { AutomationHost } from "../host.ts";
import { defaultStored, storeDelivery } from "./deliveries.ts";
import type { Claimed, Found } from "./polls.ts";
import { findSource } from "./store.ts";

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

export function sinceOf({ now }: AutomationHost, { seenUntil }: Claimed): Date {
  const from = (seenUntil?.getTime() ?? now().getTime() - firstMs) - overlapMs;
  return new Date(Math.max(now().getTime() - maxMs, from));
}

export interface Recovery {
  from: HookDeliveries;
  since: Date;
  /** Only what was sent to this team; null: to any. */
  teamId: number | null;
}

export async function recover(host: AutomationHost, recovery: Recovery, signal: AbortSignal): Promise<Found> {
  const { from, since } = recovery;
  const until = new Date(host.now().getTime() - graceMs);
  const { deliveries, isCut } = await from.list(since, signal);
  const listed = deliveries.filter(({ deliveredAt }) => deliveredAt <= until).toReversed();
  const unknown = await withoutKnown(host, listed, recovery.teamId);
  const taken = unknown.slice(0, maxRecovered);
  const failures = isCut ? [cutMessage(since, deliveries)] : [];
  let recovered = 0;
  let unreadable = 0;
  for (const delivery of taken) {
    try {
      if (await fetchOne(host, { ...recovery, delivery }, signal)) recovered += 1;
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
  `There were more than ${deliveries.length} deliveries since ${since.toISOString()}: those before ${deliveries.at(-1)?.deliveredAt.toISOString()} were not looked at. Send them again in the settings of the webhook on GitHub.`;

async function withoutKnown(
  { platform: { db } }: AutomationHost,
  listed: HookDelivery[],
  teamId: number | null,
): Promise<HookDelivery[]> {
  const byId = new Map(listed.map((delivery) => [delivery.guid, delivery]));
  if (byId.size === 0) return [];
  let query = db
    .selectFrom("inbound_events")
    .select("delivery_id")
    .where("delivery_id", "in", [...byId.keys()]);
  if (teamId !== null)
    query = query.where("source_id", "in", db.selectFrom("event_sources").select("id").where("team_id", "=", teamId));
  const known = await query.execute();
  for (const { delivery_id } of known) byId.delete(delivery_id);
  return [...byId.values()];
}

/** The id of the event source that an address is of, if it is one of the platform. */
export const sourceIdIn = (url: string): string =>
  (/\/events\/github\/([0-9a-f-]{36})\/?$/i.exec(url)?.[1] ?? "").toLowerCase();

/** False for one that was sent to an address which is not, or no more, one of the platform, or is another team's. */
async function fetchOne(
  { platform: { db, vault, settings } }: AutomationHost,
  { from, teamId, delivery }: Recovery & { delivery: HookDelivery },
  signal: AbortSignal,
): Promise<boolean> {
  const { url, payload } = await from.read(delivery.id, signal);
  const source = await findSource(db, sourceIdIn(url));
  if (source === null || (teamId !== null && source.team_id !== teamId)) return false;
  const key = await teamKey(db, vault, source.team_id);
  const body = Buffer.from(JSON.stringify(payload));
  const about = { source, key, body, deliveryId: delivery.guid, name: delivery.event, via: "poll" as const };
  return storeDelivery(db, about, sizeBytes(settings.models.limits?.events ?? defaultStored));
}

// Subscriptions of agents, and the events that came for them.
import { randomUUID } from "node:crypto";
import type { SubscriptionFilter } from "@agentcli/protocol/api";
import type { Selectable } from "kysely";
import {
  ApiError,
  type CauseLink,
  type DataKey,
  type Queries,
  type SubscriptionTable,
} from "../../foundation/index.ts";
import { readSchedule } from "../schedule.ts";

export type SubscriptionRow = Selectable<SubscriptionTable>;

/** As it is stored: with the branch of its pull request, by which results of checks are found. */
export type StoredFilter =
  | (SubscriptionFilter & { headBranch?: string })
  /** `sinceRun`: the latest run of the agent when it began. */
  | CiFixFilter;

interface CiFixFilter {
  source: "ci_fix";
  repoUrl: string;
  pullRequest: number;
  sinceRun: number;
  headBranch?: string;
  /** By a comment, whatever the settings say. */
  turnedOn?: boolean;
}

export const maxDays = 180;
export const maxPerAgent = 50;
/** More events do not wait for an agent; one that is woken after a long time reads the pull request itself. */
export const maxWaiting = 500;
const dayMs = 24 * 60 * 60 * 1000;

export interface NewSubscription {
  agentId: string;
  teamId: number;
  filter: StoredFilter;
  /** At most 180. */
  days: number;
  createdBy: string;
  /** Whom wake-ups act for, `user:1` or `service_account:<uuid>`; null: the owner of the agent. */
  actsAs: string | null;
}

export interface SubscriptionContext {
  db: Queries;
  key: DataKey;
  now: Date;
}

const filterAad = (id: string): string => `subscription:${id}`;
export const entryAad = (id: string, eventId: string): string => `subscription-event:${id}:${eventId}`;

export const openFilter = (key: DataKey, { id, filter }: Pick<SubscriptionRow, "id" | "filter">): StoredFilter =>
  JSON.parse(key.openText(filter, filterAad(id)));

export const sealFilter = (key: DataKey, id: string, filter: StoredFilter): Buffer =>
  key.seal(JSON.stringify(filter), filterAad(id));

/** Throws ApiError `validation_error`. */
export async function insertSubscription(
  { db, key, now }: SubscriptionContext,
  { agentId, teamId, filter, days, createdBy, actsAs }: NewSubscription,
): Promise<SubscriptionRow> {
  if (filter.source !== "ci_fix") await checkCount(db, agentId);
  const id = `sub-${randomUUID()}`;
  const expires_at = expiry(now, days);
  return db
    .insertInto("subscriptions")
    .values({
      ...{ id, agent_id: agentId, team_id: teamId, status: "active", created_by: createdBy, expires_at },
      source: filter.source,
      acts_as: actsAs,
      filter: sealFilter(key, id, filter),
      next_at: filter.source === "timer" ? nextAt(filter, now) : null,
      created_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export const expiry = (now: Date, days: number): Date => new Date(now.getTime() + Math.min(days, maxDays) * dayMs);

/** Those of the platform itself do not count: there is one for each pull request of the agent at most. */
async function checkCount(db: Queries, agentId: string): Promise<void> {
  const active = await db
    .selectFrom("subscriptions")
    .select("id")
    .where("agent_id", "=", agentId)
    .where("status", "=", "active")
    .where("source", "<>", "ci_fix")
    .execute();
  if (active.length >= maxPerAgent)
    throw new ApiError("validation_error", `The agent has ${active.length} subscriptions already; cancel one first.`);
}

/** When the timer fires next; null: never again. */
export function nextAt(filter: Extract<StoredFilter, { source: "timer" }>, after: Date): Date | null {
  if (filter.cron === undefined) return new Date(after.getTime() + (filter.delaySeconds ?? 0) * 1000);
  const read = readSchedule(filter.cron, filter.timezone ?? "UTC");
  if (read.kind === "invalid") throw new ApiError("validation_error", `filter.cron: ${read.problem}`);
  return read.schedule.nextAfter(after);
}

/** Newest first. */
export const listSubscriptions = (db: Queries, agentId: string): Promise<SubscriptionRow[]> =>
  db
    .selectFrom("subscriptions")
    .selectAll()
    .where("agent_id", "=", agentId)
    .orderBy("created_at", "desc")
    .orderBy("id")
    .limit(200)
    .execute();

/** What has come and was not delivered is dropped. False if it is not active. */
export async function endSubscription(
  db: Queries,
  { id, agentId }: { id: string; agentId: string },
  { status, reason }: { status: "cancelled" | "expired" | "done"; reason: string },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("subscriptions")
    .set({ status, ended_reason: reason, next_at: null })
    .where("id", "=", id)
    .where("agent_id", "=", agentId)
    .where("status", "=", "active")
    .executeTakeFirst();
  if (status === "cancelled")
    await db
      .deleteFrom("subscription_events")
      .where("subscription_id", "=", id)
      .where("run_id", "is", null)
      .where("batch_id", "is", null)
      .execute();
  return numUpdatedRows > 0n;
}

export interface NewEvent {
  subscription: Pick<SubscriptionRow, "id" | "agent_id">;
  /** An event is delivered once. */
  eventId: string;
  entry: string;
  /** What led to it, the nearest first. */
  causes: CauseLink[];
}

export async function insertEvent(
  { db, key, now }: SubscriptionContext,
  { subscription, eventId, entry, causes }: NewEvent,
): Promise<void> {
  const { id, agent_id } = subscription;
  const waiting = await db
    .selectFrom("subscription_events")
    .select("event_id")
    .where("agent_id", "=", agent_id)
    .where("run_id", "is", null)
    .limit(maxWaiting)
    .execute();
  if (waiting.length >= maxWaiting)
    return noteSkipped({ db, now }, id, `${maxWaiting} events wait for the agent already.`);
  await db
    .insertInto("subscription_events")
    .values({
      ...{ subscription_id: id, event_id: eventId, agent_id, created_at: now, causes: JSON.stringify(causes) },
      entry: key.seal(entry, entryAad(id, eventId)),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The subscription says which of its events was not delivered, and why. */
export async function noteSkipped(
  { db, now }: Pick<SubscriptionContext, "db" | "now">,
  id: string,
  reason: string,
): Promise<void> {
  await db.updateTable("subscriptions").set({ skipped_at: now, skipped_reason: reason }).where("id", "=", id).execute();
}

// Where events of source hosts come in, and each event that came: stored before anything is done with it.
import { randomBytes, randomUUID } from "node:crypto";
import type { Kysely, Selectable } from "kysely";
import {
  ApiError,
  type DataKey,
  type EventSourceTable,
  type InboundEventTable,
  type Queries,
  type Tables,
} from "../../foundation/index.ts";
import type { SourceEvent } from "./github.ts";

export type EventSourceRow = Selectable<EventSourceTable>;
export type InboundEventRow = Selectable<InboundEventTable>;

export const secretAad = (sourceId: string): string => `event-source:${sourceId}`;
export const bodyAad = (eventId: string): string => `inbound-event:${eventId}`;

export interface NewEventSource {
  teamId: number;
  name: string;
  key: DataKey;
}

/** A repository or organisation of the host has one each. */
export const maxSourcesPerTeam = 100;

/** The secret is shown only in the result. Throws `event_source_limit_reached`. */
export function createSource(
  db: Kysely<Tables>,
  request: NewEventSource,
): Promise<{ source: EventSourceRow; secret: string }> {
  return db.transaction().execute(async (tx) => {
    await lockTeam(tx, request.teamId);
    const sources = await listSources(tx, request.teamId);
    if (sources.length < maxSourcesPerTeam) return insertSource(tx, request);
    const message = `The team has ${maxSourcesPerTeam} event sources already, which is the limit. Remove one that is not used any more.`;
    throw new ApiError("event_source_limit_reached", message);
  });
}

export async function insertSource(
  db: Queries,
  { teamId, name, key }: NewEventSource,
): Promise<{ source: EventSourceRow; secret: string }> {
  const id = randomUUID();
  const secret = randomBytes(32).toString("hex");
  const values = { id, team_id: teamId, type: "github" as const, name, secret: key.seal(secret, secretAad(id)) };
  const source = await db
    .insertInto("event_sources")
    .values({ ...values, created_at: new Date() })
    .returningAll();
  return { source: await source.executeTakeFirstOrThrow(), secret };
}

export const secretOf = (source: EventSourceRow, key: DataKey): string =>
  key.openText(source.secret, secretAad(source.id));

export const listSources = (db: Queries, teamId: number): Promise<EventSourceRow[]> =>
  db
    .selectFrom("event_sources")
    .selectAll()
    .where("team_id", "=", teamId)
    .where("type", "=", "github")
    .orderBy("created_at")
    .orderBy("id")
    .execute();

/** Throws `event_source_not_found`. */
export async function removeSource(db: Queries, teamId: number, id: string): Promise<void> {
  const source = await findSource(db, id);
  if (source === null || source.team_id !== teamId)
    throw new ApiError("event_source_not_found", `There is no event source ${id.slice(0, 100)}.`);
  await db.deleteFrom("event_sources").where("id", "=", source.id).execute();
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Of a host outside: the embedded one sends nothing over HTTP. */
export async function findSource(db: Queries, id: string): Promise<EventSourceRow | null> {
  if (!uuid.test(id)) return null;
  const query = db.selectFrom("event_sources").selectAll().where("id", "=", id).where("type", "=", "github");
  return (await query.executeTakeFirst()) ?? null;
}

/** The oldest that waits, but none of these; its row is locked until the end of the transaction. */
export async function lockReceived(
  tx: Queries,
  excluded: { sources: string[]; events: string[] },
): Promise<InboundEventRow | undefined> {
  let query = tx.selectFrom("inbound_events").selectAll().where("status", "=", "received");
  if (excluded.sources.length > 0) query = query.where("source_id", "not in", excluded.sources);
  if (excluded.events.length > 0) query = query.where("id", "not in", excluded.events);
  return query.orderBy("created_at").limit(1).forUpdate().skipLocked().executeTakeFirst();
}

export async function settleEvent(
  db: Queries,
  id: string,
  end: { status: "processed" | "failed"; firings: number },
): Promise<void> {
  await db
    .updateTable("inbound_events")
    .set({ ...end, processed_at: new Date() })
    .where("id", "=", id)
    .execute();
}

/** One after another: each sees what the others of the team have stored. */
export const lockTeam = async (tx: Queries, teamId: number): Promise<void> =>
  void (await tx.selectFrom("teams").select("id").where("id", "=", teamId).forNoKeyUpdate().execute());

/** Comments do not say whether their pull request is of a fork; events of the pull request itself do. */
export async function rememberFork(tx: Queries, sourceId: string, { pullRequest }: SourceEvent): Promise<void> {
  if (pullRequest === null || pullRequest.isFork === null || pullRequest.url === "") return;
  const { url, isFork } = pullRequest;
  const seen = { is_fork: isFork, seen_at: new Date() };
  await tx
    .insertInto("inbound_pull_requests")
    .values({ source_id: sourceId, url, ...seen })
    .onConflict((conflict) => conflict.columns(["source_id", "url"]).doUpdateSet(seen))
    .execute();
}

export async function recallFork(tx: Queries, sourceId: string, event: SourceEvent): Promise<SourceEvent> {
  const { pullRequest } = event;
  if (pullRequest === null || pullRequest.isFork !== null) return event;
  const known = await tx
    .selectFrom("inbound_pull_requests")
    .select("is_fork")
    .where("source_id", "=", sourceId)
    .where("url", "=", pullRequest.url)
    .executeTakeFirst();
  return { ...event, pullRequest: { ...pullRequest, isFork: known?.is_fork ?? null } };
}

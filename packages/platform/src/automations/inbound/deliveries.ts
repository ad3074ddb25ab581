// Stores each event as it came, before anything is done with it: once, and as many as the team may keep.
import { randomUUID } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { ApiError, type DataKey, type Queries, type Tables } from "../../foundation/index.ts";
import { bodyAad, type EventSourceRow, lockTeam } from "./store.ts";

export interface Delivery {
  source: EventSourceRow;
  deliveryId: string;
  name: string;
  body: Buffer;
  key: DataKey;
  /** `poll`: the delivery never came, and the platform asked for it. */
  via?: "webhook" | "poll";
}

/** Of the events of a team. */
export const defaultStored = "1g";

/** As the trigger that subtracts it again counts. */
const rowBytes = 1024;

/**
 * A delivery that came before is not stored again; false then. Throws `event_limit_reached` for a new one beyond the limit;
 * null: there is none. What was stored before stays.
 */
export function storeDelivery(db: Kysely<Tables>, delivery: Delivery, maxBytes: number | null): Promise<boolean> {
  const { source, body: plain } = delivery;
  return db.transaction().execute(async (tx) => {
    const bytes = await insertEvent(tx, delivery);
    if (bytes === null) return false;
    // In the order in which the removal of events locks: the event, then its source.
    if (maxBytes !== null) await lockTeam(tx, source.team_id);
    await countBytes(tx, source, bytes);
    const stored = await storedBytes(tx, source.team_id);
    if (maxBytes !== null && stored > maxBytes) throw limitReached({ size: plain.length, maxBytes });
    return true;
  });
}

/** Recorded by the embedded host. */
export interface OwnEvent extends Delivery {
  status: "received" | "processed";
}

/** In the transaction of what the event is about, and without a limit: the embedded host sends no more than people do there. */
export async function storeOwnEvent(tx: Queries, event: OwnEvent): Promise<void> {
  const row = rowOf(event);
  const end = event.status === "processed" ? { processed_at: row.created_at, firings: 0 } : {};
  await tx
    .with("stored", (db) =>
      db
        .insertInto("inbound_events")
        .values({ ...row, status: event.status, ...end })
        .returning("source_id"),
    )
    .updateTable("event_sources")
    .set({ stored_bytes: sql<number>`stored_bytes + ${row.body.length + rowBytes}` })
    .where("id", "in", ({ selectFrom }) => selectFrom("stored").select("source_id"))
    .execute();
}

async function countBytes(tx: Queries, { id }: EventSourceRow, bytes: number): Promise<void> {
  await tx
    .updateTable("event_sources")
    .set({ stored_bytes: sql<number>`stored_bytes + ${bytes}` })
    .where("id", "=", id)
    .execute();
}

/** What it occupies; null if it came before. */
async function insertEvent(tx: Queries, delivery: Delivery): Promise<number | null> {
  const row = rowOf(delivery);
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("inbound_events")
    .values(row)
    .onConflict((conflict) => conflict.columns(["source_id", "delivery_id"]).doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n ? row.body.length + rowBytes : null;
}

function rowOf({ source, deliveryId, name, body: plain, key, via = "webhook" }: Delivery) {
  const id = randomUUID();
  const body = key.seal(plain, bodyAad(id));
  const about = { id, source_id: source.id, delivery_id: deliveryId, name };
  return { ...about, status: "received" as const, via, body, created_at: new Date() };
}

async function storedBytes(tx: Queries, teamId: number): Promise<number> {
  const { bytes } = await tx
    .selectFrom("event_sources")
    .select(({ fn }) => fn.sum<string>("stored_bytes").as("bytes"))
    .where("team_id", "=", teamId)
    .where("type", "=", "github")
    .executeTakeFirstOrThrow();
  return Number(bytes ?? 0);
}

const limitReached = ({ size, maxBytes }: { size: number; maxBytes: number }): ApiError =>
  new ApiError(
    "event_limit_reached",
    `This event of ${size} bytes does not fit: the team may store ${maxBytes} bytes of events (limits.events), and they are kept for 30 days. Have the host send fewer kinds of events, remove an event source that is not used any more, or ask the operator to raise the limit.`,
  );

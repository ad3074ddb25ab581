// Which server drives the run of an agent right now.
import { type Kysely, sql } from "kysely";
import type { Tables } from "../../foundation/index.ts";

/** Null: no server does. */
export async function findDriver(db: Kysely<Tables>, agentId: string): Promise<string | null> {
  const row = await db
    .selectFrom("runs")
    .select("lease_owner")
    .where("agent_id", "=", agentId)
    .where("status", "in", ["CREATING", "RUNNING"])
    .where("lease_until", ">", sql<Date>`now()`)
    .executeTakeFirst();
  return row?.lease_owner ?? null;
}

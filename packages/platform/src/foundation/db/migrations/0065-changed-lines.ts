// How many lines an agent has changed is known without reading its repositories.
import { type Kysely, sql } from "kysely";

/** Null for what was committed before. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table handoffs add column lines_added integer, add column lines_removed integer`.execute(db);
}

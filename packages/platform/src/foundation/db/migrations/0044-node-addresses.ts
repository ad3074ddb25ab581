// Where the servers of the database reach each other.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table nodes add column address text`.execute(db);
}

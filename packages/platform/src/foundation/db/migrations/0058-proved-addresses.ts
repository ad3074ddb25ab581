// When a user who joined by a link has proved the address: what was made before does not act for them.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table users add column proved_at timestamptz`.execute(db);
}

// What each run has reached and was refused, as one sealed document; null for older runs.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table runs add column egress bytea`.execute(db);
}

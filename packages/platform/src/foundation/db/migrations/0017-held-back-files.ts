// What was held back from a hand-off, and the text of the pull request as the platform wrote it last.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table handoffs add column held_back bytea, add column body_digest text`.execute(db);
}

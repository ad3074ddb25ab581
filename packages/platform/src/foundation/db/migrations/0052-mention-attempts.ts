// How often a server has failed to start the run of a mention.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table mentions add column attempts integer not null default 0`.execute(db);
}

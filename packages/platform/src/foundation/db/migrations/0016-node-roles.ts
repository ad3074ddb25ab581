// What a server of the database does, and which version it is, so that every other server can say it.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table nodes add column roles text[] not null default '{}', add column version text`.execute(db);
}

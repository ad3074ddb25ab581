// How often a run was taken over from a server that died before it got any further.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table runs add column claims_without_progress integer not null default 0`.execute(db);
}

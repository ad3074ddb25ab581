// Why a worker is not connected any more.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table workers add column lost_reason text`.execute(db);
}

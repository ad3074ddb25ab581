// The active build of an environment is not a reference any more: a backup copies tables in the order of their references, and
// these two referenced each other. Builds are only removed together with their environment.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table environments drop constraint environments_active_build`.execute(db);
}

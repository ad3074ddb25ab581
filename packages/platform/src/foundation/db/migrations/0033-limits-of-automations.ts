// When a firing was admitted by the limits of its automation, and what its run may cost.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table automation_firings add column admitted_at timestamptz, add column reserved_usd numeric(20, 6)
  `.execute(db);
}

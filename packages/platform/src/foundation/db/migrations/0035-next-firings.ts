// Finds the next firing to attempt without reading those that wait.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index automation_firings_next on automation_firings (greatest(planned_at, claimed_until), planned_at)
      where status = 'planned'
  `.execute(db);
}

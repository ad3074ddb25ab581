// Whether agents of an environment get newer commits than its build has, and after how many hours.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table environments
      add column update_stale_builds boolean not null default true,
      add column staleness_hours integer not null default 24 check (staleness_hours >= 0)
  `.execute(db);
}

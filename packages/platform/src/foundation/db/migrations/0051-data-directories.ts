// When a server of a data directory was last there to take runs.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table data_directories (
      id text primary key,
      seen_at timestamptz not null default now()
    )
  `.execute(db);
}

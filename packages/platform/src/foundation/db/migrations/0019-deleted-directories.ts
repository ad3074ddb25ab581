// Directories of deleted agents whose files are still to be removed.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table deleted_directories (
      directory text primary key,
      created_at timestamptz not null default now()
    )`.execute(db);
}

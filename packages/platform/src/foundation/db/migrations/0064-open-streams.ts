// Writers of a run notify its readers only where another server has some.
import { type Kysely, sql } from "kysely";

/** Unlogged: a crash of the database ends the connections of all servers, which then write their rows again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create unlogged table open_streams (
      id uuid primary key,
      run_id text not null,
      node_id text not null
    )
  `.execute(db);
  await sql`create index open_streams_of_run on open_streams (run_id)`.execute(db);
}

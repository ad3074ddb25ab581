// The keys that sign identity tokens of agents.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table identity_keys (
      id text primary key,
      data_key bytea not null,
      private_key bytea not null,
      public_key jsonb not null,
      created_at timestamptz not null
    )
  `.execute(db);
}

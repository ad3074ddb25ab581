// Messages that people add to an active run, and whether its agent has got them.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
      create table run_messages (
        id text primary key,
        run_id text not null references runs on delete cascade,
        number bigint generated always as identity,
        idempotency_key text,
        text bytea not null,
        created_at timestamptz not null default now(),
        delivered_at timestamptz,
        unique (run_id, idempotency_key)
      );
      create index run_messages_of_runs on run_messages (run_id, number);
    `)
    .execute(db);
}

// Browsers that are notified of ended runs, and what is still to be sent. Both go with their session.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
      create table push_subscriptions (
        session_id text primary key references sessions on delete cascade,
        subscription bytea not null,
        created_at timestamptz not null default now()
      );
      create table push_messages (
        id text primary key,
        session_id text not null references push_subscriptions on delete cascade,
        run_id text not null references runs on delete cascade,
        attempts integer not null default 0,
        next_attempt_at timestamptz not null,
        created_at timestamptz not null default now()
      );
      create index push_messages_due on push_messages (next_attempt_at);
      create index push_messages_of_sessions on push_messages (session_id);
      create index push_messages_of_runs on push_messages (run_id);
    `)
    .execute(db);
}

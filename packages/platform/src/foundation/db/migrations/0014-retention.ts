// What retention needs: the runs whose streams are stored, and indexes by which it finds what is due.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table runs add column stream_removed_at timestamptz;
    create index runs_with_stored_streams on runs (ended_at) where ended_at is not null and stream_removed_at is null;
    create index idempotent_answers_by_age on idempotent_answers (created_at);
    create index sessions_by_expiry on sessions (expires_at);
    create index login_links_by_expiry on login_links (expires_at);
    create index ended_deliveries_by_age on webhook_deliveries (created_at) where status <> 'waiting'
  `.execute(db);
}

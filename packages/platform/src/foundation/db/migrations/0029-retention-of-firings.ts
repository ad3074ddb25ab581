// Indexes by which retention finds what is due of automations, workers and invitations.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index decided_firings_by_age on automation_firings (decided_at) where decided_at is not null;
    create index automation_alerts_by_creation on automation_alerts (created_at);
    create index workers_by_last_seen on workers (last_seen_at);
    create index invitations_by_expiry on invitations (expires_at)
  `.execute(db);
}

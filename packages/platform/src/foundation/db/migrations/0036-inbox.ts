// Which items of their inbox users have read. A mark goes with its run or alert.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
      create table inbox_marks (
        user_id integer not null references users on delete cascade,
        run_id text references runs on delete cascade,
        alert_id text references automation_alerts on delete cascade,
        state text not null check (state in ('unread', 'read', 'done')),
        updated_at timestamptz not null default now(),
        check ((run_id is null) <> (alert_id is null)),
        unique (user_id, run_id),
        unique (user_id, alert_id)
      );
      create index inbox_marks_of_runs on inbox_marks (run_id) where run_id is not null;
      create index inbox_marks_of_alerts on inbox_marks (alert_id) where alert_id is not null;
    `)
    .execute(db);
}

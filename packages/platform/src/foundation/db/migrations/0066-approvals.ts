// What waits for the decision of a person is in inboxes: draft builds, and what runs in shadow mode propose.
import { type Kysely, sql } from "kysely";
import { triggersOf } from "./0003-audit.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  // Entries of the audit log wait for the end of the transaction, and changes of the triggers would not wait for them.
  await sql`set constraints all immediate`.execute(db);
  await sql.raw(changes).execute(db);
  await sql.raw(triggersOf(audited)).execute(db);
}

const changes = `
  alter table environment_builds add column discarded_at timestamptz;
  create index environment_builds_drafts on environment_builds (environment_id)
    where draft and status = 'SUCCEEDED' and discarded_at is null;
  create index automation_firings_shadow on automation_firings (automation_id, created_at desc)
    where effects = 'shadow' and run_status = 'FINISHED';
  alter table inbox_marks drop constraint inbox_marks_check,
    add column build_id text references environment_builds on delete cascade,
    add column firing_id text references automation_firings on delete cascade,
    add check (num_nonnulls(run_id, alert_id, build_id, firing_id) = 1),
    add unique (user_id, build_id),
    add unique (user_id, firing_id);
  create index inbox_marks_of_builds on inbox_marks (build_id) where build_id is not null;
  create index inbox_marks_of_firings on inbox_marks (firing_id) where firing_id is not null;
  alter table push_messages alter column run_id drop not null,
    add column build_id text references environment_builds on delete cascade,
    add check (num_nonnulls(run_id, build_id) = 1);
  create index push_messages_of_builds on push_messages (build_id) where build_id is not null;
  drop trigger audit_existence on environment_builds;
  drop trigger audit_changes on environment_builds;
`;

const audited = {
  ...{ table: "environment_builds", name: "environment_build", id: ["id"] },
  columns: ["environment_id", "version_id", "trigger", "draft", "status", "cancel_requested_at", "discarded_at"],
};

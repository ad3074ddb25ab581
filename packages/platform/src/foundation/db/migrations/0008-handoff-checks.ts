// Checks that are to be shown on the commits of runs.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table handoff_checks (
      run_id text not null references runs on delete cascade,
      repo_url text not null,
      commit_name text not null,
      state text not null,
      attempts integer not null default 0,
      due_at timestamptz not null default now(),
      primary key (run_id, repo_url)
    )
  `.execute(db);
  await sql`create index handoff_checks_by_time on handoff_checks (due_at) where state <> 'ended'`.execute(db);
}

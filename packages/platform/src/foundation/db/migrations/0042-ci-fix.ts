// The latest result of each check on each branch.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
}

const tables = `
  create table branch_checks (
    source_id uuid not null references event_sources on delete cascade,
    repository text not null,
    branch text not null,
    name text not null,
    is_failing boolean not null,
    seen_at timestamptz not null,
    primary key (source_id, repository, branch, name)
  );
  create index branch_checks_by_age on branch_checks (seen_at);
`;

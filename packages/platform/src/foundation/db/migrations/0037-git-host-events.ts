// What the embedded git host needs for events: labels, commit statuses, and the tips of branches as they were last seen.
import { type Kysely, sql } from "kysely";
import { triggersOf } from "./0003-audit.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
  const labels = { table: "pull_request_labels", name: "label", id: ["repository_id", "pull_request", "name"] };
  await sql.raw(triggersOf({ ...labels, columns: ["author"] })).execute(db);
  const statuses = { table: "commit_statuses", name: "commit_status", id: ["repository_id", "commit", "context"] };
  await sql.raw(triggersOf({ ...statuses, columns: ["state", "author"] })).execute(db);
}

/** Null tips: the repository is older than the column, and its next push is where events begin. */
const tables = `
  alter table hosted_repositories add column tips jsonb;
  create table pull_request_labels (
    repository_id integer not null,
    pull_request integer not null,
    name text not null,
    author text not null,
    created_at timestamptz not null default now(),
    primary key (repository_id, pull_request, name),
    foreign key (repository_id, pull_request) references pull_requests (repository_id, number) on delete cascade
  );
  create table commit_statuses (
    repository_id integer not null references hosted_repositories on delete cascade,
    commit text not null,
    context text not null,
    state text not null,
    description bytea not null,
    target_url text,
    author text not null,
    created_at timestamptz not null default now(),
    primary key (repository_id, commit, context)
  );
  create unique index event_sources_of_git_host on event_sources (team_id) where type = 'git_host';
`;

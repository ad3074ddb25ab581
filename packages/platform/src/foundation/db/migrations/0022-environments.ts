// Environments with their versions and builds, and which one a run uses.
import { type Kysely, sql } from "kysely";
import { triggersOf } from "./0003-audit.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
  await sql.raw(builds).execute(db);
  await sql`alter table runs add column environment bytea`.execute(db);
  for (const audited of [
    {
      table: "environments",
      name: "environment",
      id: ["id"],
      columns: ["team_id", "user_id", "name", "repos", "version_id", "active_build_id", "build_interval_hours"],
    },
    {
      table: "environment_builds",
      name: "environment_build",
      id: ["id"],
      columns: ["environment_id", "version_id", "trigger", "draft", "status", "cancel_requested_at"],
    },
  ])
    await sql.raw(triggersOf(audited)).execute(db);
}

const tables = `
  create table environments (
    id uuid primary key,
    team_id integer not null references teams on delete cascade,
    user_id integer references users on delete cascade,
    name text not null,
    repos jsonb not null,
    version_id uuid not null,
    active_build_id text,
    repo_file jsonb,
    build_interval_hours integer not null default 24 check (build_interval_hours >= 0),
    next_build_at timestamptz not null default now(),
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
  );
  create unique index environments_of_teams on environments (team_id, name) where user_id is null;
  create unique index environments_of_users on environments (user_id, name) where user_id is not null;
  create index environments_by_update on environments (team_id, updated_at desc, id desc);
  create index environments_by_schedule on environments (next_build_at) where build_interval_hours > 0;
  create table environment_versions (
    id uuid primary key,
    environment_id uuid not null references environments on delete cascade,
    number integer not null,
    kind text not null,
    source text not null,
    title text not null,
    description text not null,
    config bytea not null,
    created_at timestamptz not null default now(),
    unique (environment_id, number)
  );
`;

const builds = `
  create table environment_builds (
    id text primary key,
    environment_id uuid not null references environments on delete cascade,
    version_id uuid not null references environment_versions on delete cascade,
    status text not null,
    trigger text not null,
    draft boolean not null,
    failure_type text,
    failure_code text,
    overrides bytea,
    requested_by text,
    content_key text,
    config_digest text,
    commits jsonb not null default '[]',
    output text,
    lease_owner text,
    lease_epoch integer not null default 0,
    lease_until timestamptz,
    crashed_servers integer not null default 0,
    cancel_requested_at timestamptz,
    started_at timestamptz,
    completed_at timestamptz,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
  );
  create index environment_builds_by_age on environment_builds (environment_id, created_at desc, id desc);
  create index environment_builds_open on environment_builds (environment_id, created_at) where status = 'IN_PROGRESS';
  create table environment_build_logs (
    build_id text not null references environment_builds on delete cascade,
    seq integer not null,
    at timestamptz not null default now(),
    text bytea not null,
    primary key (build_id, seq)
  );
  alter table environments add constraint environments_active_build
    foreign key (active_build_id) references environment_builds on delete set null deferrable initially deferred;
`;

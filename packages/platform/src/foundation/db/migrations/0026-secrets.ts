// Secrets of teams, users and environments. The audit log records that one was set, changed or removed, never its value.
import { type Kysely, sql } from "kysely";
import { triggersOf } from "./0003-audit.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
  const columns = ["team_id", "user_id", "environment_id", "name", "type", "phase", "repos", "updated_at"];
  await sql.raw(triggersOf({ table: "secrets", name: "secret", id: ["id"], columns })).execute(db);
}

const tables = `
  create table secrets (
    id text primary key,
    team_id integer not null references teams on delete cascade,
    user_id integer references users on delete cascade,
    environment_id uuid references environments on delete cascade,
    name text collate "C" not null,
    type text not null check (type in ('runtime_secret', 'environment_variable', 'build_secret')),
    phase text not null check (phase in ('run', 'build', 'both')),
    repos jsonb not null default '[]',
    sealed bytea not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    check (user_id is null or environment_id is null)
  );
  create index secrets_by_name on secrets (team_id, name, id);
  create index secrets_of_users on secrets (user_id) where user_id is not null;
  create index secrets_of_environments on secrets (environment_id) where environment_id is not null;
  create table agent_secrets (
    agent_id text primary key references agents on delete cascade,
    sealed bytea not null,
    created_at timestamptz not null default now()
  );
`;

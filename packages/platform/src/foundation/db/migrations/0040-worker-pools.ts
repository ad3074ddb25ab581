// Pools of workers, claims that controllers make for workers to come, and the tokens that connect these.
import { type Kysely, sql } from "kysely";
import { triggersOf } from "./0003-audit.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
  for (const audited of [
    {
      table: "worker_pools",
      name: "worker_pool",
      id: ["id"],
      columns: ["team_id", "service_account_id", "name", "ready_timeout_seconds", "is_registered"],
    },
    {
      table: "worker_claims",
      name: "worker_claim",
      id: ["agent_id"],
      columns: ["team_id", "worker_id", "service_account_id", "failed_run_id"],
    },
    {
      table: "worker_tokens",
      name: "worker_token",
      id: ["id"],
      columns: ["team_id", "agent_id", "worker_id", "expires_at"],
    },
  ])
    await sql.raw(triggersOf(audited)).execute(db);
}

const tables = `
  create table worker_pools (
    id uuid primary key default gen_random_uuid(),
    team_id integer not null references teams on delete cascade,
    service_account_id uuid references service_accounts on delete cascade,
    name text not null,
    repo_owner text not null default '',
    repo_name text not null default '',
    repo_url text,
    ready_timeout_seconds integer not null default 0,
    is_registered boolean not null,
    first_seen_at timestamptz not null default now(),
    last_seen_at timestamptz not null default now(),
    unique nulls not distinct (team_id, service_account_id, name, repo_owner, repo_name)
  );
  alter table worker_claims
    add column service_account_id uuid references service_accounts on delete cascade,
    add column failed_run_id text,
    add column failure bytea;
  create table worker_tokens (
    id text primary key,
    hash bytea not null,
    team_id integer not null references teams on delete cascade,
    key_id text not null references api_keys on delete cascade,
    agent_id text not null references worker_claims (agent_id) on delete cascade,
    worker_id text not null,
    expires_at timestamptz not null,
    created_at timestamptz not null default now()
  );
  create index worker_tokens_of_claims on worker_tokens (agent_id);
  create index worker_tokens_of_keys on worker_tokens (key_id);
  alter table api_keys add column parent_id text references api_keys on delete cascade;
  create index api_keys_by_parent on api_keys (parent_id) where parent_id is not null;
`;

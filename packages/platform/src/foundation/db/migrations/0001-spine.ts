// Principals, agents, runs, their threads and streams, hand-off, and the embedded git host.
import { type Kysely, sql } from "kysely";

// Over 60 lines because a schema is read as a whole.
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table key_encryption_keys (
      is_only boolean primary key default true check (is_only),
      fingerprint text not null,
      created_at timestamptz not null default now()
    );
    create table teams (
      id integer primary key generated always as identity,
      name text not null unique,
      data_key bytea not null,
      spend_limit_usd numeric,
      created_at timestamptz not null default now()
    );
    create table users (
      id integer primary key generated always as identity,
      team_id integer not null references teams on delete cascade,
      email text not null unique,
      first_name text,
      last_name text,
      role text not null check (role in ('admin', 'member')),
      spend_limit_usd numeric,
      created_at timestamptz not null default now()
    );
    create table service_accounts (
      id uuid primary key,
      team_id integer not null references teams on delete cascade,
      name text not null,
      created_at timestamptz not null default now(),
      unique (team_id, name)
    );
    create table api_keys (
      id text primary key,
      team_id integer not null references teams on delete cascade,
      user_id integer references users on delete cascade,
      service_account_id uuid references service_accounts on delete cascade,
      name text not null,
      hash bytea not null,
      scopes text[] not null,
      expires_at timestamptz,
      revoked_at timestamptz,
      created_at timestamptz not null default now(),
      check (num_nonnulls(user_id, service_account_id) = 1)
    );
    create table agents (
      id text primary key,
      team_id integer not null references teams on delete cascade,
      user_id integer references users on delete set null,
      service_account_id uuid references service_accounts on delete set null,
      name bytea not null,
      archived_at timestamptz,
      data_key bytea not null,
      settings jsonb not null,
      private_settings bytea not null,
      source text not null,
      latest_run_id text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index agents_newest on agents (team_id, created_at desc, id desc);
    create table runs (
      id text primary key,
      agent_id text not null references agents on delete cascade,
      team_id integer not null references teams on delete cascade,
      user_id integer references users on delete set null,
      service_account_id uuid references service_accounts on delete set null,
      number integer not null,
      status text not null check (status in ('CREATING', 'RUNNING', 'FINISHED', 'ERROR', 'CANCELLED', 'EXPIRED')),
      request_id text,
      request bytea not null,
      lease_owner text,
      lease_epoch integer not null default 0,
      lease_until timestamptz,
      cancel_requested_at timestamptz,
      started_at timestamptz,
      ended_at timestamptz,
      result bytea,
      error_code text,
      error_message bytea,
      input_tokens bigint not null default 0,
      output_tokens bigint not null default 0,
      cache_read_tokens bigint not null default 0,
      cache_write_tokens bigint not null default 0,
      reasoning_tokens bigint not null default 0,
      cost_usd numeric default 0,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      unique (agent_id, number)
    );
    create unique index one_active_run_per_agent on runs (agent_id) where status in ('CREATING', 'RUNNING');
    create index claimable_runs on runs (lease_until nulls first, created_at) where status in ('CREATING', 'RUNNING');
    create index spending_of_teams on runs (team_id, created_at) where cost_usd is not null;
    create table threads (
      id text primary key,
      agent_id text not null references agents on delete cascade,
      parent_id text references threads on delete cascade,
      created_at timestamptz not null default now()
    );
    create index threads_of_agents on threads (agent_id);
    create table thread_records (
      thread_id text not null references threads on delete cascade,
      seq integer not null,
      at timestamptz not null,
      record bytea not null,
      primary key (thread_id, seq)
    );
    create table frames (
      run_id text not null references runs on delete cascade,
      seq integer not null,
      event_id text not null,
      event text not null,
      data bytea not null,
      at timestamptz not null,
      primary key (run_id, seq)
    );
    create index frames_by_event on frames (run_id, event_id);
    create table idempotent_answers (
      principal text not null,
      key text not null,
      body_hash bytea not null,
      status integer not null,
      agent_id text not null references agents on delete cascade,
      run_id text not null references runs on delete cascade,
      created_at timestamptz not null default now(),
      primary key (principal, key)
    );
    create table artifacts (
      agent_id text not null references agents on delete cascade,
      blob text not null,
      path bytea not null,
      size_bytes bigint not null,
      updated_at timestamptz not null default now(),
      primary key (agent_id, blob)
    );
    create table handoffs (
      agent_id text not null references agents on delete cascade,
      repo_url text not null,
      run_id text not null references runs on delete cascade,
      state text not null check (state in ('waiting', 'committed', 'pushed', 'opened', 'done', 'failed')),
      branch text not null,
      base_branch text not null,
      base_commit text not null,
      head_commit text,
      pushed_commit text,
      pr_url text,
      updated_at timestamptz not null default now(),
      primary key (agent_id, repo_url)
    );
    create index handoffs_by_pull_request on handoffs (pr_url) where pr_url is not null;
    create table nodes (
      id text primary key,
      heartbeat_at timestamptz not null,
      started_at timestamptz not null default now()
    );
    create table server_addresses (
      url text primary key,
      seen_at timestamptz not null default now()
    );
    create table hosted_repositories (
      id integer primary key generated always as identity,
      team_id integer not null references teams on delete cascade,
      name text not null,
      default_branch text not null,
      created_at timestamptz not null default now(),
      unique (team_id, name)
    );
    create table pull_requests (
      repository_id integer not null references hosted_repositories on delete cascade,
      number integer not null,
      title bytea not null,
      body bytea not null,
      head_branch text not null,
      base_branch text not null,
      state text not null check (state in ('open', 'closed', 'merged')),
      draft boolean not null,
      author text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      primary key (repository_id, number)
    );
    create unique index one_open_pull_request_per_branch on pull_requests (repository_id, head_branch, base_branch)
      where state = 'open';
    create table pull_request_comments (
      id integer primary key generated always as identity,
      repository_id integer not null,
      pull_request integer not null,
      author text not null,
      body bytea not null,
      path text,
      line integer,
      created_at timestamptz not null default now(),
      foreign key (repository_id, pull_request) references pull_requests on delete cascade
    );
    create table pull_request_reviews (
      id integer primary key generated always as identity,
      repository_id integer not null,
      pull_request integer not null,
      author text not null,
      verdict text not null check (verdict in ('approved', 'changes_requested', 'commented')),
      body bytea not null,
      created_at timestamptz not null default now(),
      foreign key (repository_id, pull_request) references pull_requests on delete cascade
    );
  `.execute(db);
}

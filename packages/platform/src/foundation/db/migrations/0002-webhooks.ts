// Webhooks of agents with their deliveries, and the pools of workers that execute jobs.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table job_pools (
      id text primary key,
      node_id text not null,
      node_started_at timestamptz not null,
      created_at timestamptz not null default now()
    );
    create table webhooks (
      agent_id text primary key references agents on delete cascade,
      version text not null check (version in ('v0', 'v1')),
      url bytea not null,
      secret bytea,
      created_at timestamptz not null default now()
    );
    create table webhook_deliveries (
      id text primary key,
      agent_id text not null references webhooks on delete cascade,
      run_id text not null unique references runs on delete cascade,
      body bytea,
      status text not null check (status in ('waiting', 'delivered', 'dead')),
      attempts integer not null default 0,
      attempts_before integer not null default 0,
      next_attempt_at timestamptz,
      queued_at timestamptz,
      created_at timestamptz not null default now(),
      check ((status = 'waiting') = (next_attempt_at is not null))
    );
    create index deliveries_of_agents on webhook_deliveries (agent_id, created_at desc, id desc);
    create index waiting_deliveries on webhook_deliveries (queued_at nulls first) where status = 'waiting';
    create table webhook_attempts (
      delivery_id text not null references webhook_deliveries on delete cascade,
      number integer not null,
      started_at timestamptz not null,
      duration_ms integer not null,
      outcome text not null check (outcome in ('delivered', 'refused', 'timed_out', 'unreachable', 'forbidden')),
      response_status integer,
      primary key (delivery_id, number)
    );
  `.execute(db);
}

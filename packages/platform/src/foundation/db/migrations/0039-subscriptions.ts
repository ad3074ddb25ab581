// Subscriptions of agents to events of source hosts and to timers, and the events that wait for them.
import { type Kysely, sql } from "kysely";
import { triggersOf } from "./0003-audit.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
  const table = { table: "subscriptions", name: "subscription", id: ["id"] };
  const columns = ["agent_id", "source", "status", "ended_reason"];
  await sql.raw(triggersOf({ ...table, columns })).execute(db);
}

const tables = `
  create table subscriptions (
    id text primary key,
    agent_id text not null references agents on delete cascade,
    team_id integer not null references teams on delete cascade,
    source text not null,
    filter bytea not null,
    status text not null,
    ended_reason text,
    next_at timestamptz,
    created_by text not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null
  );
  create index subscriptions_of_agents on subscriptions (agent_id, created_at);
  create index subscriptions_to_hosts on subscriptions (team_id) where status = 'active' and source = 'source_host';
  create index subscriptions_to_timers on subscriptions (next_at) where status = 'active' and next_at is not null;
  create index subscriptions_by_end on subscriptions (expires_at) where status = 'active';
  create table subscription_events (
    subscription_id text not null references subscriptions on delete cascade,
    event_id text not null,
    agent_id text not null,
    entry bytea not null,
    created_at timestamptz not null default now(),
    batch_id text,
    run_id text,
    primary key (subscription_id, event_id)
  );
  create index subscription_events_waiting on subscription_events (agent_id, created_at) where run_id is null;
`;

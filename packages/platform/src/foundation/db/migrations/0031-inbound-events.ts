// Events of source hosts: where they come in, each one that came, and which firing caused another.
import { type Kysely, sql } from "kysely";
import { triggersOf } from "./0003-audit.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
  const columns = ["team_id", "type", "name"];
  await sql.raw(triggersOf({ table: "event_sources", name: "event_source", id: ["id"], columns })).execute(db);
}

const tables = `
  create table event_sources (
    id uuid primary key,
    team_id integer not null references teams on delete cascade,
    type text not null,
    name text not null,
    secret bytea not null,
    created_at timestamptz not null default now()
  );
  create index event_sources_of_teams on event_sources (team_id, created_at);
  create table inbound_events (
    id uuid primary key,
    source_id uuid not null references event_sources on delete cascade,
    delivery_id text not null,
    name text not null,
    body bytea not null,
    status text not null,
    firings integer,
    created_at timestamptz not null default now(),
    processed_at timestamptz,
    unique (source_id, delivery_id)
  );
  create index inbound_events_received on inbound_events (created_at) where status = 'received';
  create index inbound_events_by_age on inbound_events (created_at);
  create table inbound_pull_requests (
    source_id uuid not null references event_sources on delete cascade,
    url text not null,
    is_fork boolean not null,
    primary key (source_id, url)
  );
  alter table automation_triggers add column event text;
  create index automation_triggers_of_events on automation_triggers (event, automation_id) where event is not null;
  alter table automation_firings add column cause_id text;
`;

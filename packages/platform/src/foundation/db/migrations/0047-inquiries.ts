// What hosts have answered about events, deliveries that were asked for, mentions of the platform in comments.
import { type Kysely, sql } from "kysely";
import { triggersOf } from "./0003-audit.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
  const columns = ["team_id", "user_id", "sender", "agent_id", "status", "reason"];
  await sql.raw(triggersOf({ table: "mentions", name: "mention", id: ["id"], columns })).execute(db);
}

const tables = `
  alter table inbound_events add column facts bytea;
  alter table inbound_events add column via text not null default 'webhook';
  alter table automation_firings add column recovered boolean not null default false;
  create table mentions (
    id text primary key,
    team_id integer not null references teams on delete cascade,
    user_id integer,
    sender text not null,
    repo_url text not null,
    kind text not null,
    number integer not null,
    agent_id text,
    is_new_agent boolean not null,
    prompt bytea not null,
    status text not null,
    reason text,
    run_id text,
    retry_at timestamptz not null,
    created_at timestamptz not null default now()
  );
  create trigger tell_of_mentions after insert on mentions
    for each row when (new.status = 'planned') execute function tell_automations();
  create index mentions_planned on mentions (retry_at) where status = 'planned';
  create index mentions_of_teams on mentions (team_id, created_at);
  create index mentions_of_agents on mentions (agent_id);
  alter table pull_request_reviews drop constraint pull_request_reviews_verdict_check;
  alter table pull_request_reviews add constraint pull_request_reviews_verdict_check
    check (verdict in ('approved', 'changes_requested', 'commented', 'dismissed'));
  create table delivery_polls (
    connection text primary key,
    next_at timestamptz not null,
    seen_until timestamptz,
    failure text,
    recovered integer not null default 0
  );
`;

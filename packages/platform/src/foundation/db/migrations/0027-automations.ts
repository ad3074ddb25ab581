// Automations with their triggers and webhook keys, a record of every firing, and alerts about what did not happen.
import { type Kysely, sql } from "kysely";
import { triggersOf } from "./0003-audit.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
  await sql.raw(firings).execute(db);
  for (const audited of [
    {
      table: "automations",
      name: "automation",
      id: ["id"],
      columns: ["team_id", "user_id", "scope", "name", "version", "enabled", "disabled_reason"],
    },
    {
      table: "automation_webhook_keys",
      name: "automation_webhook_key",
      id: ["id"],
      columns: ["automation_id", "name"],
    },
  ])
    await sql.raw(triggersOf(audited)).execute(db);
}

const tables = `
  create table automations (
    id text primary key,
    team_id integer not null references teams on delete cascade,
    user_id integer references users on delete cascade,
    scope text not null,
    name text not null,
    definition bytea not null,
    missed text not null,
    version integer not null default 1,
    enabled boolean not null,
    disabled_reason text,
    disabled_at timestamptz,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    check ((user_id is null) = (scope = 'team_owned'))
  );
  create unique index automations_of_teams on automations (team_id, name) where user_id is null;
  create unique index automations_of_users on automations (user_id, name) where user_id is not null;
  create index automations_by_age on automations (team_id, created_at desc, id desc);
  create table automation_triggers (
    id text primary key,
    automation_id text not null references automations on delete cascade,
    position integer not null,
    type text not null,
    cron text,
    timezone text
  );
  create index automation_triggers_of_automation on automation_triggers (automation_id, position);
  create table automation_webhook_keys (
    id text primary key,
    automation_id text not null references automations on delete cascade,
    name text not null,
    hash bytea not null,
    created_at timestamptz not null default now()
  );
  create index automation_webhook_keys_of_automation on automation_webhook_keys (automation_id);
`;

const firings = `
  create table automation_firings (
    id text primary key,
    automation_id text not null references automations on delete cascade,
    source text not null,
    trigger_id text,
    status text not null,
    reason text,
    planned_at timestamptz not null,
    decided_at timestamptz,
    dedupe_key text,
    body_hash bytea,
    payload bytea,
    agent_id text not null,
    run_id text,
    run_status text,
    claimed_by text,
    claimed_until timestamptz,
    attempts integer not null default 0,
    created_at timestamptz not null default now()
  );
  create unique index automation_firings_once on automation_firings (automation_id, dedupe_key)
    where dedupe_key is not null;
  create index automation_firings_due on automation_firings (planned_at) where status = 'planned';
  create index automation_firings_planned on automation_firings (automation_id, planned_at) where status = 'planned';
  create index automation_firings_by_age on automation_firings (automation_id, planned_at desc, id desc);
  create index automation_firings_of_agents on automation_firings (agent_id);
  create table automation_alerts (
    id text primary key,
    automation_id text not null references automations on delete cascade,
    firing_id text,
    kind text not null,
    message text not null,
    created_at timestamptz not null default now()
  );
  create unique index automation_alerts_once on automation_alerts (firing_id, kind) where firing_id is not null;
  create index automation_alerts_by_age on automation_alerts (automation_id, created_at desc, id desc);
`;

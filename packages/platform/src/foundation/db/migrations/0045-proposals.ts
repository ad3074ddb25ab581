// What runs of automations propose instead of doing it, and back-tests: stored events that are replayed.
import { type Kysely, sql } from "kysely";
import { triggersOf } from "./0003-audit.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(changes).execute(db);
  const audited = {
    ...{ table: "automation_backtests", name: "automation_backtest", id: ["id"] },
    columns: ["automation_id", "last", "created_by"],
  };
  await sql.raw(triggersOf(audited)).execute(db);
}

const changes = `
  alter table automation_firings add column effects text;
  alter table automation_firings add column backtest_id text;
  create index automation_firings_of_backtests on automation_firings (backtest_id) where backtest_id is not null;
  create table automation_backtests (
    id text primary key,
    automation_id text not null references automations on delete cascade,
    last integer not null,
    created_by text not null,
    created_at timestamptz not null,
    items bytea
  );
  create index automation_backtests_requested on automation_backtests (created_at) where items is null;
  create index automation_backtests_of_automations on automation_backtests (automation_id);
  create table automation_proposals (
    agent_id text not null references agents on delete cascade,
    call_id text not null,
    run_id text not null,
    tool text not null,
    arguments bytea not null,
    created_at timestamptz not null,
    position bigint generated always as identity,
    primary key (agent_id, call_id)
  );
`;

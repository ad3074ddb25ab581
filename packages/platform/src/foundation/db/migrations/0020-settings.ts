// Settings of teams and of users, one row each; a setting that was never changed is not there.
import { type Kysely, sql } from "kysely";
import { triggersOf } from "./0003-audit.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table team_settings (
      team_id integer primary key references teams on delete cascade,
      settings jsonb not null default '{}' check (jsonb_typeof(settings) = 'object'),
      updated_at timestamptz not null default now()
    )
  `.execute(db);
  await sql`
    create table user_settings (
      user_id integer primary key references users on delete cascade,
      settings jsonb not null default '{}' check (jsonb_typeof(settings) = 'object'),
      updated_at timestamptz not null default now()
    )
  `.execute(db);
  const columns = ["settings"];
  await sql.raw(triggersOf({ table: "team_settings", name: "team_settings", id: ["team_id"], columns })).execute(db);
  await sql.raw(triggersOf({ table: "user_settings", name: "user_settings", id: ["user_id"], columns })).execute(db);
}

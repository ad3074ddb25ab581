// Whether agents of a team take follow-ups from all of it.
import { type Kysely, sql } from "kysely";
import { triggersOf } from "./0003-audit.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table teams add column follow_ups text not null default 'disabled'
      check (follow_ups in ('disabled', 'service_accounts', 'all'))
  `.execute(db);
  await sql`drop trigger audit_existence on teams`.execute(db);
  await sql`drop trigger audit_changes on teams`.execute(db);
  const columns = ["name", "spend_limit_usd", "follow_ups"];
  await sql.raw(triggersOf({ table: "teams", name: "team", id: ["id"], columns })).execute(db);
}

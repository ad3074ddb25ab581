// Accounts of users on source hosts, and which pull requests reviewers were asked for.
import { type Kysely, sql } from "kysely";
import { triggersOf } from "./0003-audit.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table source_accounts (
      user_id integer not null references users on delete cascade,
      host text not null,
      account_id text not null,
      login text not null,
      token bytea,
      created_at timestamptz not null default now(),
      primary key (user_id, host)
    )
  `.execute(db);
  const audited = { table: "source_accounts", name: "source_account", id: ["user_id", "host"], columns: ["login"] };
  await sql.raw(triggersOf(audited)).execute(db);
  await sql`alter table handoffs add column announced_pr_url text`.execute(db);
}

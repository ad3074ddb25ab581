// Credentials of teams for git hosts. The audit log records that one was set or removed, never what it is.
import { type Kysely, sql } from "kysely";
import { triggersOf } from "./0003-audit.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table source_credentials (
      team_id integer not null references teams on delete cascade,
      host text not null,
      kind text not null check (kind in ('token', 'basic', 'ssh_key', 'known_hosts')),
      sealed bytea not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      primary key (team_id, host, kind)
    )
  `.execute(db);
  const id = ["team_id", "host", "kind"];
  const columns = ["team_id", "host", "kind", "updated_at"];
  await sql.raw(triggersOf({ table: "source_credentials", name: "source_credential", id, columns })).execute(db);
}

// Memories of automations: every version of each of their files.
import { type Kysely, sql } from "kysely";
import { triggersOf } from "./0003-audit.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table automation_memories (
      automation_id text not null references automations on delete cascade,
      name text not null,
      version integer not null,
      bytes integer not null,
      text bytea,
      author text not null,
      created_at timestamptz not null default now(),
      primary key (automation_id, name, version)
    )
  `.execute(db);
  const id = ["automation_id", "name", "version"];
  const table = { table: "automation_memories", name: "automation_memory", id, columns: ["author", "bytes"] };
  await sql.raw(triggersOf(table)).execute(db);
}

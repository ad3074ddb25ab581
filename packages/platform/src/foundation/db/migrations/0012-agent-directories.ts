// The directories of an agent have a name of their own: an id that a client chooses again leads to other directories.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table agents add column directory text`.execute(db);
  // Not a change of agents that the audit log should tell about.
  await sql`alter table agents disable trigger user`.execute(db);
  await sql`update agents set directory = id`.execute(db);
  await sql`alter table agents enable trigger user`.execute(db);
  await sql`alter table agents alter column directory set not null`.execute(db);
  await sql`create unique index agents_of_directories on agents (directory)`.execute(db);
}

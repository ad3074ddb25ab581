// Where the commands of each run are executed and why; null for older runs. The machine is the one whose disk the run has used.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table runs add column machine_provider text, add column machine_reason text, add column machine_id text
  `.execute(db);
}

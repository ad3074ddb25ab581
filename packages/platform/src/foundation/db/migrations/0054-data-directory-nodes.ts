// Which server has a data directory: requests about the files in it are forwarded there.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table data_directories add column node_id text`.execute(db);
}

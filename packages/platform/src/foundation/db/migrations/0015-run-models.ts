// The model and the provider of each run; null for older ones.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table runs add column model text, add column model_provider text`.execute(db);
}

// The hosts that a secret is bound to, and where in requests to them its value goes.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table secrets
      add column hosts jsonb not null default '[]',
      add column uses jsonb not null default '[]'
  `.execute(db);
}

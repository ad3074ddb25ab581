// Login attempts whose callback has arrived: each works once, on all servers together.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table used_login_attempts (
      hash bytea primary key,
      expires_at timestamptz not null
    )`.execute(db);
}

// Users of two teams may have one address in the same spelling, too: a refusal would tell an administrator of the other team.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table users drop constraint if exists users_email_key`.execute(db);
}

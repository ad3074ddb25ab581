// The key-encryption key may be kept by a service.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table key_encryption_keys add column authentication_key bytea`.execute(db);
}

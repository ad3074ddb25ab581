// One user per address, whatever its case. Where two were made at the same moment, the first one who is there keeps it.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  // No one can own an address below .invalid; keys, sessions and agents of such a user stay what they were.
  await sql`
    update users set email = email || '.user-' || id || '.invalid'
    where id in (
      select id from (
        select id, row_number() over (partition by lower(email collate "C") order by removed_at is not null, id) as place from users
      ) as numbered where place > 1
    )`.execute(db);
  // Entries of the audit log wait for the end of the transaction, and the index would not wait for them.
  await sql`set constraints all immediate`.execute(db);
  await sql`create unique index users_of_addresses on users (lower(email collate "C"))`.execute(db);
}

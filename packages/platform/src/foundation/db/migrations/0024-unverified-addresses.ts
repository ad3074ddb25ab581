// Without an identity provider an address proves nothing: a user who joined by a link may have one that a user of another team has.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  // Entries of the audit log wait for the end of the transaction, and the index would not wait for them.
  await sql`set constraints all immediate`.execute(db);
  await sql`alter table users add column has_shared_address boolean not null default false`.execute(db);
  await sql`drop index users_of_addresses`.execute(db);
  await sql`create unique index users_of_addresses on users (lower(email collate "C")) where not has_shared_address`.execute(
    db,
  );
  await sql`create unique index users_of_addresses_in_teams on users (team_id, lower(email collate "C"))`.execute(db);
}

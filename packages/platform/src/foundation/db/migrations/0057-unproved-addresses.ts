// Users who joined by a link have proved no address: they keep it only until a person proves it, or an operator assigns it.
import { type Kysely, sql } from "kysely";

export async function up(db: Kysely<unknown>): Promise<void> {
  // Entries of the audit log wait for the end of the transaction, and changes of the table would not wait for them.
  await sql`set constraints all immediate`.execute(db);
  await sql`alter table users add column joined_by_link boolean not null default false`.execute(db);
  await sql`
    update users set joined_by_link = true
    where not exists (select from identities where identities.user_id = users.id)
      and exists (
        select from invitations
        where invitations.team_id = users.team_id
          and invitations.accepted_at is not null
          and lower(invitations.email collate "C") = lower(users.email collate "C")
      )`.execute(db);
}

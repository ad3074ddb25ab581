// Hashes of secrets are in the audit log: one that is replaced lets another person in as the same user.
import { type Kysely, sql } from "kysely";
import { triggersOf } from "./0003-audit.ts";

export async function up(db: Kysely<unknown>): Promise<void> {
  // Entries of the audit log wait for the end of the transaction, and changes of the triggers would not wait for them.
  await sql`set constraints all immediate`.execute(db);
  for (const { table, name, columns } of audited) {
    await sql.raw(`drop trigger audit_existence on ${table}; drop trigger audit_changes on ${table};`).execute(db);
    await sql.raw(triggersOf({ table, name, id: ["id"], columns })).execute(db);
    const isKey = table === "api_keys";
    await sql
      .raw(
        `select audit_append('${name}.hash_recorded', id, jsonb_build_object('hash', hash${isKey ? ", 'parent_id', parent_id" : ""}))
         from ${table} order by id`,
      )
      .execute(db);
  }
}

const audited = [
  {
    ...{ table: "api_keys", name: "api_key" },
    columns: [
      ...["team_id", "user_id", "service_account_id", "name", "scopes"],
      ...["expires_at", "revoked_at", "successor_id", "parent_id", "hash"],
    ],
  },
  { table: "sessions", name: "session", columns: ["user_id", "method", "ended_at", "hash"] },
  { table: "login_links", name: "login_link", columns: ["user_id", "used_at", "hash"] },
  {
    ...{ table: "invitations", name: "invitation" },
    columns: ["team_id", "email", "role", "expires_at", "accepted_at", "revoked_at", "hash"],
  },
  {
    ...{ table: "worker_tokens", name: "worker_token" },
    columns: ["team_id", "agent_id", "worker_id", "expires_at", "hash"],
  },
  { table: "automation_webhook_keys", name: "automation_webhook_key", columns: ["automation_id", "name", "hash"] },
];

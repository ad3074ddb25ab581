// Whether the log explains who may do what now, and whose things are: a session that switches triggers off for itself alone leaves no entry.
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Tables } from "../../foundation/index.ts";

interface Explained {
  table: string;
  /** What a row is, as actions name it. */
  row: string;
  /** Recorded columns that decide what the row permits, and who knows its secret. */
  columns: string[];
  /** The same, of times: PostgreSQL prints them differently in other time zones. */
  times?: string[];
  /** Recorded when the row ends, and empty before. */
  ended?: string[];
  /** Recorded columns that are newer than the table: what no entry names is not compared. */
  newer?: string[];
  id?: string[];
  /** Other rows are too many, and permit nothing more. */
  only?: string;
  /** Without its row more is permitted. */
  stays?: true;
}

const owners = ["team_id", "user_id", "service_account_id"];

const explained: Explained[] = [
  { table: "teams", row: "team", columns: ["spend_limit_usd"], newer: ["follow_ups"] },
  { table: "team_settings", row: "team_settings", columns: ["settings"], id: ["team_id"], stays: true },
  { table: "users", row: "user", columns: ["team_id", "email", "role", "spend_limit_usd"], ended: ["removed_at"] },
  { table: "user_settings", row: "user_settings", columns: ["settings"], id: ["user_id"], stays: true },
  { table: "service_accounts", row: "service_account", columns: ["team_id"] },
  {
    ...{ table: "api_keys", row: "api_key", columns: [...owners, "scopes", "parent_id", "hash"] },
    ...{ times: ["expires_at"], ended: ["revoked_at"] },
  },
  { table: "sessions", row: "session", columns: ["user_id", "hash"], ended: ["ended_at"] },
  { table: "identities", row: "identity", columns: ["user_id"], id: ["issuer", "subject"] },
  { table: "login_links", row: "login_link", columns: ["user_id", "hash"], ended: ["used_at"] },
  {
    ...{ table: "invitations", row: "invitation", columns: ["team_id", "email", "role", "hash"] },
    ...{ times: ["expires_at"], ended: ["accepted_at", "revoked_at"] },
  },
  {
    ...{ table: "worker_tokens", row: "worker_token", columns: ["team_id", "agent_id", "worker_id", "hash"] },
    ...{ times: ["expires_at"] },
  },
  { table: "automation_webhook_keys", row: "automation_webhook_key", columns: ["automation_id", "hash"] },
  { table: "agents", row: "agent", columns: owners },
  { table: "runs", row: "run", columns: ["agent_id", ...owners], only: "status in ('CREATING', 'RUNNING')" },
  { table: "automations", row: "automation", columns: ["team_id", "user_id", "scope", "enabled"] },
  {
    ...{ table: "environments", row: "environment" },
    columns: ["team_id", "user_id", "repos", "version_id", "active_build_id"],
  },
  {
    ...{ table: "secrets", row: "secret" },
    columns: ["team_id", "user_id", "environment_id", "name", "type", "phase", "repos"],
  },
  { table: "hosted_repositories", row: "repository", columns: ["team_id"] },
  { table: "source_accounts", row: "source_account", columns: ["login"], id: ["user_id", "host"] },
  {
    ...{ table: "source_credentials", row: "source_credential", columns: ["team_id", "host", "kind"] },
    id: ["team_id", "host", "kind"],
  },
  { table: "event_sources", row: "event_source", columns: ["team_id"] },
  { table: "worker_pools", row: "worker_pool", columns: ["team_id", "service_account_id"] },
];

/** One sentence for each table with rows, or values, that no entry tells of. */
export async function findUnexplained(db: Kysely<Tables>): Promise<string[]> {
  const found: string[] = [];
  for (const each of explained) {
    const ids = await unexplainedIn(db, each);
    if (ids.length === 0) continue;
    const more = ids.length > shownIds ? " and others" : "";
    found.push(`${each.table} has rows that no entry explains: ${ids.slice(0, shownIds).join(", ")}${more}`);
  }
  return found;
}

const shownIds = 5;

/** Compares each column with the last entry that names it; after an entry that the row was deleted, none explains it. */
async function unexplainedIn(db: Kysely<Tables>, of: Explained): Promise<string[]> {
  const { table, row, id = ["id"], only = "true", stays = false } = of;
  const subjectId = sql`concat_ws(':', ${sql.join(id.map((column) => sql.ref(`subjects.${column}`)))})`;
  const { rows } = await sql<{ id: string }>`
    with subjects as (
      select ${subjectId} as subject_id, subjects.* from ${sql.table(table)} subjects where ${sql.raw(only)}
    ), entries as (
      select seq, entry::jsonb as entry from audit_entries where entry like ${`%"action": "${row}.%`}
    ), mine as (
      select * from entries where entry ->> 'action' like ${`${row}.%`}
        and (${stays} or entry ->> 'subject' in (select subject_id from subjects))
    ), last as (
      select distinct on (entry ->> 'subject', key) entry ->> 'subject' as id, key, value
      from mine, jsonb_each(entry -> 'data')
      order by entry ->> 'subject', key, seq desc
    ), ends as (
      select distinct on (entry ->> 'subject') entry ->> 'subject' as id, entry ->> 'action' = ${`${row}.deleted`} as is_deleted
      from mine order by entry ->> 'subject', seq desc
    ), known as (
      select id, jsonb_object_agg(key, value) as columns from last join ends using (id) where not is_deleted group by id
    )
    select coalesce(subject_id, known.id) as id from subjects full join known on known.id = subject_id
    where ${sql.join([sql`known.id is null`, sql`subject_id is null`, ...differencesIn(of)], sql` or `)}
    order by 1 limit ${shownIds + 1}`.execute(db);
  return rows.map(({ id: found }) => found);
}

/** Conditions on `subjects`, the rows, and `known`, what entries tell of them. */
function differencesIn({ columns, times = [], ended = [], newer = [] }: Explained): RawBuilder<unknown>[] {
  // `jsonb_build_array` has null for an empty column, as the entry does.
  const differs = (column: string) =>
    sql`jsonb_build_array(known.columns -> ${column}) is distinct from jsonb_build_array(subjects.${sql.ref(column)})`;
  return [
    ...columns.map(differs),
    ...newer.map((column) => sql`(known.columns -> ${column} is not null and ${differs(column)})`),
    ...times.map(
      (column) => sql`(known.columns ->> ${column})::timestamptz is distinct from subjects.${sql.ref(column)}`,
    ),
    ...ended.map((column) => sql`(subjects.${sql.ref(column)} is null and known.columns -> ${column} <> 'null')`),
  ];
}

// Whether the log explains who may do what now: a session that switches triggers off for itself alone leaves no entry.
import { type Kysely, sql } from "kysely";
import type { Tables } from "../../foundation/index.ts";

interface Explained {
  table: string;
  /** What a row is, as actions name it. */
  row: string;
  /** Recorded columns that decide what the row permits. */
  columns: string[];
  /** Recorded when the row ends, and empty before. */
  ended: string | null;
}

const owners = ["team_id", "user_id", "service_account_id"];

const explained: Explained[] = [
  { table: "teams", row: "team", columns: [], ended: null },
  { table: "users", row: "user", columns: ["team_id", "role"], ended: "removed_at" },
  { table: "service_accounts", row: "service_account", columns: ["team_id"], ended: null },
  { table: "api_keys", row: "api_key", columns: [...owners, "scopes"], ended: "revoked_at" },
  { table: "sessions", row: "session", columns: ["user_id"], ended: "ended_at" },
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

/** Compares each column with the last entry that names it. */
async function unexplainedIn(db: Kysely<Tables>, { table, row, columns, ended }: Explained): Promise<string[]> {
  const values = columns.map((column) => sql`${column}::text, to_jsonb(subjects.${sql.ref(column)})`);
  const isRevived =
    ended === null ? sql`false` : sql`subjects.${sql.ref(ended)} is null and known.columns -> ${ended} <> 'null'`;
  const { rows } = await sql<{ id: string }>`
    with entries as (
      select seq, entry::jsonb as entry from audit_entries where entry like ${`%"action": "${row}.%`}
    ), last as (
      select distinct on (entry ->> 'subject', key) entry ->> 'subject' as id, key, value
      from entries, jsonb_each(entry -> 'data')
      order by entry ->> 'subject', key, seq desc
    ), known as (
      select id, jsonb_object_agg(key, value) as columns from last group by id
    )
    select subjects.id::text as id from ${sql.table(table)} subjects left join known on known.id = subjects.id::text
    where known.id is null or not known.columns @> jsonb_build_object(${sql.join(values)}) or ${isRevived}
    order by 1 limit ${shownIds + 1}`.execute(db);
  return rows.map(({ id }) => id);
}

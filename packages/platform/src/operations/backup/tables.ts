// Lists the tables in an order in which they can be filled.
import type pg from "pg";

export interface StoredTable {
  name: string;
  columns: string[];
}

/** State of the migrator: a restored database runs its own migrations. */
const migratorTables = ["kysely_migration", "kysely_migration_lock"];

/** Where the files of this platform are, which a restored one has elsewhere. */
const locations = ["data_directories", "hosted_repository_saves"];

/** Browsers that receive notifications: gone with their sessions. */
const ofSessions = ["push_subscriptions", "push_messages"];

/** Of servers that run now. */
const ofServers = ["open_streams"];

/** Left out: a restore must not revive ended sessions or used login links. */
export const notBackedUp = ["sessions", "login_links", ...ofSessions, ...ofServers, ...locations];

/**
 * In no data directory, but in the object store: a restored platform fetches it from there. Of what was bound to a data
 * directory, the store has at most an older save: the files in the backup count.
 */
export const forgetDataDirectories = [
  "delete from agent_disks where save_id is null or is_bound",
  "update agent_disks set data_id = ''",
];

/** Each table after those it references. */
export async function listTables(client: pg.Client): Promise<StoredTable[]> {
  const { rows: columns } = await client.query<{ name: string; columns: string[] }>(
    `select c.table_name as name, array_agg(c.column_name::text order by c.ordinal_position) as columns
     from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.is_generated = 'NEVER'
       and c.table_name <> all($1)
     group by c.table_name order by c.table_name`,
    [migratorTables],
  );
  const { rows: pointers } = await client.query<{ from: string; to: string }>(
    `select distinct conrelid::regclass::text as from, confrelid::regclass::text as to
     from pg_constraint where contype = 'f' and conrelid <> confrelid`,
  );
  return inDependencyOrder(columns, pointers);
}

export function inDependencyOrder(tables: StoredTable[], pointers: { from: string; to: string }[]): StoredTable[] {
  const ordered: StoredTable[] = [];
  let remaining = tables;
  while (remaining.length > 0) {
    const isRemaining = (name: string) => remaining.some((table) => table.name === name);
    const free = remaining.filter(({ name }) => !pointers.some(({ from, to }) => from === name && isRemaining(to)));
    if (free.length === 0)
      throw new Error(`tables reference each other: ${remaining.map(({ name }) => name).join(", ")}`);
    ordered.push(...free);
    remaining = remaining.filter((table) => !free.includes(table));
  }
  return ordered;
}

/** `lastValue` is null where none was assigned. */
export const listSequences = async (client: pg.Client): Promise<{ name: string; lastValue: string | null }[]> =>
  (
    await client.query(
      `select sequencename as name, last_value::text as "lastValue" from pg_sequences
       where schemaname = 'public' order by 1`,
    )
  ).rows;

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

export const copyTarget = ({ name, columns }: StoredTable): string =>
  `${quoted(name)} (${columns.map(quoted).join(", ")})`;

// Which tables there are, and in which order they can be filled.
import type pg from "pg";

export interface StoredTable {
  name: string;
  columns: string[];
}

/** What the migrator keeps is not data: a restored database has been through migrations of its own. */
const own = ["kysely_migration", "kysely_migration_lock"];

/** Not in a backup: whoever was logged out since must not be in again, and a link that was used stays so. */
export const momentary = ["sessions", "login_links"];

/** Each after those it points at. */
export async function listTables(client: pg.Client): Promise<StoredTable[]> {
  const { rows: columns } = await client.query<{ name: string; columns: string[] }>(
    `select c.table_name as name, array_agg(c.column_name::text order by c.ordinal_position) as columns
     from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.is_generated = 'NEVER'
       and c.table_name <> all($1)
     group by c.table_name order by c.table_name`,
    [own],
  );
  const { rows: pointers } = await client.query<{ from: string; to: string }>(
    `select distinct conrelid::regclass::text as from, confrelid::regclass::text as to
     from pg_constraint where contype = 'f' and conrelid <> confrelid`,
  );
  return inOrder(columns, pointers);
}

export function inOrder(tables: StoredTable[], pointers: { from: string; to: string }[]): StoredTable[] {
  const ordered: StoredTable[] = [];
  let waiting = tables;
  while (waiting.length > 0) {
    const isWaiting = (name: string) => waiting.some((table) => table.name === name);
    const free = waiting.filter(({ name }) => !pointers.some(({ from, to }) => from === name && isWaiting(to)));
    if (free.length === 0) throw new Error(`tables point at each other: ${waiting.map(({ name }) => name).join(", ")}`);
    ordered.push(...free);
    waiting = waiting.filter((table) => !free.includes(table));
  }
  return ordered;
}

export const listSequences = async (client: pg.Client): Promise<{ name: string; lastValue: string }[]> =>
  (
    await client.query(
      `select sequencename as name, last_value::text as "lastValue" from pg_sequences
       where schemaname = 'public' and last_value is not null order by 1`,
    )
  ).rows;

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

export const copyTarget = ({ name, columns }: StoredTable): string =>
  `${quoted(name)} (${columns.map(quoted).join(", ")})`;

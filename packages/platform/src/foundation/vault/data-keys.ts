// All data keys of the database. By convention a column that holds a wrapped key is called data_key, in a table with an id.
import { type Kysely, sql } from "kysely";
import type { Tables } from "../db/index.ts";

const maxRows = 500;

/** Replaces each by what `wrapAgain` makes of it; returns their number. One that was changed meanwhile stays as it is. */
export async function rewrapDataKeys(
  db: Kysely<Tables>,
  wrapAgain: (stored: Buffer) => Promise<Buffer>,
  maxConcurrent = maxRows,
): Promise<number> {
  const tables = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'data_key' order by 1`.execute(db);
  let count = 0;
  for (const { name } of tables.rows) {
    const table = sql.table(name);
    const { rows } = await sql<{ id: string; data_key: Buffer }>`select id::text, data_key from ${table}`.execute(db);
    for (let at = 0; at < rows.length; at += maxConcurrent) {
      const batch = rows.slice(at, at + maxConcurrent);
      const former = batch.map(({ data_key }) => data_key);
      const wrapped = await Promise.all(former.map(wrapAgain));
      await sql`
        update ${table} t set data_key = fresh.data_key
        from unnest(${batch.map(({ id }) => id)}::text[], ${former}::bytea[], ${wrapped}::bytea[])
          as fresh (id, former, data_key)
        where t.id::text = fresh.id and t.data_key = fresh.former`.execute(db);
    }
    count += rows.length;
  }
  return count;
}

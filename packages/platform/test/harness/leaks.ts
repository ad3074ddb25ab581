// Looks for secrets where none may be: in the log, in files of the data directory and in every row of the database.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import type { TestPlatform } from "./platform.ts";

/** Where a secret was found: empty if nowhere. */
export async function findLeaks({ platform }: TestPlatform, logged: string[], secrets: string[]): Promise<string[]> {
  const has = (text: string) => secrets.some((secret) => text.includes(secret));
  const { db, settings } = platform;
  const files = readdirSync(settings.dataDirectory, { recursive: true, withFileTypes: true })
    // The disk of a machine is mounted beside it, and its files are looked at there.
    .filter((entry) => entry.isFile() && entry.name !== "disk.img")
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => has(readFileSync(path, "latin1")));
  const names = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'public'
  `.execute(db);
  const tables: string[] = [];
  for (const { name } of names.rows) {
    const { rows } = await sql<{ row: string }>`select t::text as row from ${sql.table(name)} t`.execute(db);
    if (rows.some(({ row }) => has(row) || has(withBytes(row)))) tables.push(`table ${name}`);
  }
  return [...(has(logged.join("")) ? ["log"] : []), ...files, ...tables];
}

/** Columns of bytes are shown in hexadecimal. */
const withBytes = (row: string): string =>
  row.replace(/\\\\x([0-9a-f]+)/g, (_all, hex) => Buffer.from(hex, "hex").toString("latin1"));

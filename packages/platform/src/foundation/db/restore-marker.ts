// Markers in the data directory and in the database while a backup is being restored: an interrupted restore must not be
// served, and a server with another data directory sees only the database.
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Kysely, sql } from "kysely";
import type pg from "pg";
import { DatabaseError } from "./database-error.ts";
import type { Tables } from "./tables/index.ts";

const markIn = (dataDirectory: string): string => join(dataDirectory, "restoring");

export const markRestore = (dataDirectory: string): void =>
  writeFileSync(markIn(dataDirectory), "A backup is being restored into this directory.\n", { mode: 0o600 });

export const unmarkRestore = (dataDirectory: string): void => rmSync(markIn(dataDirectory), { force: true });

export function refuseHalfRestored(dataDirectory: string): void {
  if (existsSync(markIn(dataDirectory)))
    throw new DatabaseError(
      `The restore into ${dataDirectory} is in progress or was interrupted. If no restore is running, remove the directory, empty the database of DATABASE_URL if one is set, and restore again.`,
    );
}

/** In the transaction that fills the tables. */
export const markRestoredTables = (client: pg.Client): Promise<unknown> =>
  client.query("create table restoring (since timestamptz not null default now())");

export const unmarkRestoredTables = (db: Kysely<Tables>): Promise<unknown> => sql`drop table restoring`.execute(db);

export async function refuseHalfRestoredTables(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ there: boolean }>`select to_regclass('restoring') is not null as there`.execute(db);
  if (rows[0]?.there)
    throw new DatabaseError(
      "The restore into this database is in progress or was interrupted: files of the backup are missing. If no restore is running, empty the database of DATABASE_URL and restore again.",
    );
}

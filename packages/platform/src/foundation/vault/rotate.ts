// A new key-encryption key: every data key is wrapped again in one transaction. What was sealed with data keys stays as it is.
import { existsSync, linkSync, renameSync, rmSync } from "node:fs";
import { type Kysely, sql } from "kysely";
import { countRunningServers, type Tables } from "../db/index.ts";
import { makeKeyFile, readKeyFile } from "./key-file.ts";
import { type KeyEncryption, unwrapWith, wrapWith } from "./vault.ts";
import { VaultError } from "./vault-error.ts";

export interface Rotation {
  fingerprint: string;
  dataKeys: number;
  /** Where the former key is now: backups from before need it. */
  formerFile: string;
}

/**
 * The new key is on the disk before the database knows it, and takes its place afterwards, or with the next start.
 * `prepare` is for what is kept elsewhere; both keys may be the right one then, until the next start.
 */
export async function rotateKeyFile(
  db: Kysely<Tables>,
  kekFile: string,
  prepare: (former: KeyEncryption, next: KeyEncryption) => Promise<void> = async () => {},
): Promise<Rotation> {
  const former = required(readKeyFile(kekFile), kekFile);
  rmSync(nextFile(kekFile), { force: true });
  makeKeyFile(nextFile(kekFile));
  const next = required(readKeyFile(nextFile(kekFile)), kekFile);
  const dataKeys = await db.transaction().execute(async (transaction) => {
    // Servers that start meanwhile wait here, and find the new key.
    await sql`lock table key_encryption_keys in access exclusive mode`.execute(transaction);
    if ((await countRunningServers(transaction)) > 0)
      throw new VaultError("A server is running, and would keep using the previous key. Stop all servers first.");
    await prepare(former, next);
    await transaction.updateTable("key_encryption_keys").set({ fingerprint: next.fingerprint }).execute();
    return rewrapAll(transaction, former, next);
  });
  finishRotation(kekFile, next.fingerprint);
  return { fingerprint: next.fingerprint, dataKeys, formerFile: formerFile(kekFile, former) };
}

/** Puts the new key in its place, where the database is sealed with it already. */
export function finishRotation(kekFile: string, expected: string): void {
  if (!existsSync(nextFile(kekFile)) || readKeyFile(nextFile(kekFile))?.fingerprint !== expected) return;
  const former = readKeyFile(kekFile);
  if (former) keepFormer(kekFile, formerFile(kekFile, former));
  renameSync(nextFile(kekFile), kekFile);
}

const nextFile = (kekFile: string): string => `${kekFile}.next`;
const formerFile = (kekFile: string, { fingerprint }: KeyEncryption): string => `${kekFile}.${fingerprint.slice(0, 8)}`;

function keepFormer(kekFile: string, path: string): void {
  try {
    linkSync(kekFile, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

const batchSize = 500;

/** By convention a column that holds a wrapped key is called data_key, in a table with an id. */
async function rewrapAll(db: Kysely<Tables>, former: KeyEncryption, next: KeyEncryption): Promise<number> {
  const tables = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'data_key' order by 1`.execute(db);
  let count = 0;
  for (const { name } of tables.rows) {
    const table = sql.table(name);
    const { rows } = await sql<{ id: string; data_key: Buffer }>`select id::text, data_key from ${table}`.execute(db);
    for (let at = 0; at < rows.length; at += batchSize) {
      const batch = rows.slice(at, at + batchSize);
      const wrapped = await Promise.all(
        batch.map(async ({ data_key }) => wrapWith(next, await unwrapWith(former, data_key))),
      );
      await sql`
        update ${table} t set data_key = fresh.data_key
        from unnest(${batch.map(({ id }) => id)}::text[], ${wrapped}::bytea[]) as fresh (id, data_key)
        where t.id::text = fresh.id`.execute(db);
    }
    count += rows.length;
  }
  return count;
}

function required(key: KeyEncryption | null, kekFile: string): KeyEncryption {
  if (key) return key;
  throw new VaultError(`The key file ${kekFile} is missing: there is nothing to rotate.`);
}

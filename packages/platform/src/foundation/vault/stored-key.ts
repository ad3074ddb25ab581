// The key that the database was sealed with, as it is known there.
import { type Kysely, sql } from "kysely";
import { countRunningServers, type Queries, type Tables } from "../db/index.ts";
import { VaultError } from "./vault-error.ts";

export interface StoredKey {
  fingerprint: string;
  /** Of a service. */
  authentication_key?: Buffer | null;
}

export async function readStoredKey(db: Queries): Promise<StoredKey | null> {
  // All columns: an old schema has fewer.
  return (await db.selectFrom("key_encryption_keys").selectAll().executeTakeFirst()) ?? null;
}

/** In one transaction, while no server runs. Servers that start meanwhile wait, and find the new key. */
export const exchangeKey = <T>(db: Kysely<Tables>, work: (transaction: Kysely<Tables>) => Promise<T>): Promise<T> =>
  db.transaction().execute(async (transaction) => {
    await sql`lock table key_encryption_keys in access exclusive mode`.execute(transaction);
    if ((await countRunningServers(transaction)) > 0)
      throw new VaultError("A server is running, and would keep using the previous key. Stop all servers first.");
    return work(transaction);
  });

// The vault of a server. A server whose key is not the one that the database was sealed with does not start.
import { sql } from "kysely";
import type { Queries } from "../db/index.ts";
import { makeKeyFile, readKeyFile } from "./key-file.ts";
import { finishRotation } from "./rotate.ts";
import { type Vault, vaultOf } from "./vault.ts";
import { VaultError } from "./vault-error.ts";

export async function openVault(db: Queries, kekFile: string): Promise<Vault> {
  const expected = await knownFingerprint(db);
  const isFirstUse = expected === null && !(await hasHistory(db));
  // A new key beside sealed data would look like a start and be the loss of everything.
  if (expected === null) makeKeyFile(kekFile);
  else finishRotation(kekFile, expected);
  const encryption = readKeyFile(kekFile);
  if (!encryption)
    throw new VaultError(
      `The key file ${kekFile} is missing, and the database was sealed with it (fingerprint ${expected}). Restore the file, or name another with PLATFORM_KEK_FILE.`,
    );
  const sealedWith = expected ?? (await rememberFingerprint(db, encryption.fingerprint));
  if (sealedWith !== encryption.fingerprint)
    throw new VaultError(
      `The database was sealed with another key (fingerprint ${sealedWith}) than that in ${kekFile} (${encryption.fingerprint}). Use the right key file: PLATFORM_KEK_FILE names one.`,
    );
  return vaultOf(encryption, isFirstUse);
}

async function knownFingerprint(db: Queries): Promise<string | null> {
  const row = await db.selectFrom("key_encryption_keys").select("fingerprint").executeTakeFirst();
  return row?.fingerprint ?? null;
}

/** Then the fingerprint was removed: what the database says about its past is not to be believed. */
async function hasHistory(db: Queries): Promise<boolean> {
  if (await db.selectFrom("teams").select("id").limit(1).executeTakeFirst()) return true;
  // An old schema has no log.
  const { rows } = await sql<{ log: string | null }>`select to_regclass('audit_entries')::text as log`.execute(db);
  if (!rows[0]?.log) return false;
  return (await db.selectFrom("audit_entries").select("seq").limit(1).executeTakeFirst()) !== undefined;
}

/** Two servers that start at once with two key files: the first is right. */
async function rememberFingerprint(db: Queries, fingerprint: string): Promise<string> {
  await db
    .insertInto("key_encryption_keys")
    .values({ fingerprint })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return (await knownFingerprint(db)) ?? fingerprint;
}

// The vault of a server. A server whose key is not the one that the database was sealed with does not start.
import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { KmsSettings } from "../config/index.ts";
import type { Queries } from "../db/index.ts";
import { keyBytes } from "./cipher.ts";
import { configuredKey, type KeySettings, openKeyService } from "./configured-key.ts";
import { makeKeyFile, readKeyFile } from "./key-file.ts";
import { finishRotation } from "./rotate.ts";
import { fingerprintOf } from "./service-key.ts";
import { readStoredKey, type StoredKey } from "./stored-key.ts";
import { type KeyEncryption, type Vault, vaultOf } from "./vault.ts";
import { VaultError } from "./vault-error.ts";

export async function openVault(db: Queries, settings: KeySettings): Promise<Vault> {
  const stored = await readStoredKey(db);
  const isFirstUse = stored === null && !(await hasHistory(db));
  const { kms, kekFile } = settings;
  const encryption = kms
    ? await openServiceKey(db, { ...settings, kms }, stored)
    : await openKeyFile(db, kekFile, stored);
  return vaultOf(encryption, isFirstUse);
}

/** The key that the settings name, whatever the database was sealed with; null where there is none yet. */
export async function findKey(db: Queries, settings: KeySettings): Promise<KeyEncryption | null> {
  const stored = settings.kms ? await readStoredKey(db) : null;
  return configuredKey(settings, stored?.authentication_key ?? null);
}

async function openKeyFile(db: Queries, kekFile: string, stored: StoredKey | null): Promise<KeyEncryption> {
  // A new key beside sealed data would look like a start and be the loss of everything.
  if (stored === null) makeKeyFile(kekFile);
  else finishRotation(kekFile, stored.fingerprint);
  const encryption = readKeyFile(kekFile);
  if (!encryption)
    throw new VaultError(
      `The key file ${kekFile} is missing, and the database was sealed with it (fingerprint ${stored?.fingerprint}). Restore the file, or name another with PLATFORM_KEK_FILE.`,
    );
  const { fingerprint } = encryption;
  const known = stored ?? (await rememberKey(db, { fingerprint }));
  if (known.fingerprint !== fingerprint)
    throw new VaultError(
      `The database was sealed with another key (fingerprint ${known.fingerprint}) than that in ${kekFile} (${fingerprint}). Use the right key file: PLATFORM_KEK_FILE names one.`,
    );
  return encryption;
}

/** Asks the service, so that a server does not start without it. */
async function openServiceKey(
  db: Queries,
  settings: KeySettings & { kms: KmsSettings },
  stored: StoredKey | null,
): Promise<KeyEncryption> {
  const service = openKeyService(settings.kms, settings);
  const fingerprint = fingerprintOf(service);
  const newKey = () => service.encrypt(randomBytes(keyBytes), "authentication key");
  const known = stored ?? (await rememberKey(db, { fingerprint, authentication_key: await newKey() }));
  if (known.fingerprint !== fingerprint)
    throw new VaultError(
      `The database was sealed with another key (fingerprint ${known.fingerprint}) than ${service.description} (${fingerprint}). Use the right key: [kms] names one, and without [kms] the key file is used. To move from a key file to the service: platform rotate-kek.`,
    );
  const encryption = configuredKey(settings, known.authentication_key ?? null);
  if (!encryption) throw new Error("the key of a service was stored without its authentication key");
  await encryption.authenticate("", "start");
  return encryption;
}

/** Then the fingerprint was removed: what the database says about its past is not to be believed. */
async function hasHistory(db: Queries): Promise<boolean> {
  if (await db.selectFrom("teams").select("id").limit(1).executeTakeFirst()) return true;
  // An old schema has no log.
  const { rows } = await sql<{ log: string | null }>`select to_regclass('audit_entries')::text as log`.execute(db);
  if (!rows[0]?.log) return false;
  return (await db.selectFrom("audit_entries").select("seq").limit(1).executeTakeFirst()) !== undefined;
}

/** Two servers that start at once with two keys: the first is right. */
async function rememberKey(db: Queries, key: StoredKey): Promise<StoredKey> {
  await db
    .insertInto("key_encryption_keys")
    .values(key)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return (await readStoredKey(db)) ?? key;
}

// A service keeps the key-encryption key: data keys are encrypted by its newest version, or move to it from a key file.
import { randomBytes } from "node:crypto";
import type { Kysely } from "kysely";
import type { KmsSettings } from "../config/index.ts";
import type { Tables } from "../db/index.ts";
import { keyBytes } from "./cipher.ts";
import { type KeySettings, openKeyService } from "./configured-key.ts";
import { rewrapDataKeys } from "./data-keys.ts";
import { readKeyFile } from "./key-file.ts";
import type { KeyService } from "./key-service.ts";
import { readLabel, withLabel } from "./label.ts";
import { finishRotation } from "./rotate.ts";
import { fingerprintOf, serviceKey } from "./service-key.ts";
import { exchangeKey, readStoredKey, type StoredKey } from "./stored-key.ts";
import { type KeyEncryption, unwrapWith, wrapWith } from "./vault.ts";
import { VaultError } from "./vault-error.ts";

export type ServiceRotation = {
  kind: "rewrapped" | "moved";
  dataKeys: number;
  fingerprint: string;
  description: string;
};

/** Requests at once: services limit them. */
const maxConcurrent = 20;

/** `prepare` is for what is kept outside the database: both keys may be the right one, until the next start. */
export async function rotateServiceKey(
  db: Kysely<Tables>,
  settings: KeySettings & { kms: KmsSettings },
  prepare: (former: KeyEncryption, next: KeyEncryption) => Promise<void> = async () => {},
): Promise<ServiceRotation> {
  const service = openKeyService(settings.kms, settings);
  const stored = await readStoredKey(db);
  if (stored === null) throw new VaultError("The database was not sealed yet: there is nothing to rotate.");
  const fingerprint = fingerprintOf(service);
  const [kind, dataKeys] =
    stored.fingerprint === fingerprint
      ? (["rewrapped", await rewrapAll(db, service, stored)] as const)
      : (["moved", await moveFromFile({ db, service, stored, kekFile: settings.kekFile }, prepare)] as const);
  return { kind, dataKeys, fingerprint, description: service.description };
}

/** While servers run: the service decrypts both versions, so each step stands for itself, and a repetition does no harm. */
async function rewrapAll(db: Kysely<Tables>, service: KeyService, { authentication_key }: StoredKey): Promise<number> {
  const fingerprint = fingerprintOf(service);
  const count = await rewrapDataKeys(
    db,
    async (stored) => withLabel(fingerprint, await service.rewrap(readLabel(stored).wrapped, "data key")),
    maxConcurrent,
  );
  if (authentication_key)
    await db
      .updateTable("key_encryption_keys")
      .set({ authentication_key: await service.rewrap(authentication_key, "authentication key") })
      .where("authentication_key", "=", authentication_key)
      .execute();
  return count;
}

interface Move {
  db: Kysely<Tables>;
  service: KeyService;
  stored: StoredKey;
  kekFile: string;
}

/** All or nothing. */
async function moveFromFile(
  { db, service, stored, kekFile }: Move,
  prepare: (former: KeyEncryption, next: KeyEncryption) => Promise<void>,
): Promise<number> {
  finishRotation(kekFile, stored.fingerprint);
  const former = readKeyFile(kekFile);
  if (former?.fingerprint !== stored.fingerprint)
    throw new VaultError(
      `The database was sealed with another key (fingerprint ${stored.fingerprint}) than ${service.description}, and it is not that of the key file ${kekFile} either. Put the former key there, or name it in [kms].`,
    );
  return exchangeKey(db, async (transaction) => {
    const authenticationKey = await service.encrypt(randomBytes(keyBytes), "authentication key");
    const next = serviceKey(service, { authenticationKey, cacheMs: 0, now: Date.now });
    await prepare(former, next);
    const row = { fingerprint: next.fingerprint, authentication_key: authenticationKey };
    await transaction.updateTable("key_encryption_keys").set(row).execute();
    return rewrapDataKeys(transaction, async (data) => wrapWith(next, await unwrapWith(former, data)), maxConcurrent);
  });
}

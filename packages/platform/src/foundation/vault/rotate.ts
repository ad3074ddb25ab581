// A new key-encryption key: every data key is wrapped again in one transaction. What was sealed with data keys stays as it is.
import { existsSync, linkSync, renameSync, rmSync } from "node:fs";
import type { Kysely } from "kysely";
import type { Tables } from "../db/index.ts";
import { rewrapDataKeys } from "./data-keys.ts";
import { makeKeyFile, readKeyFile } from "./key-file.ts";
import { exchangeKey } from "./stored-key.ts";
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
  const dataKeys = await exchangeKey(db, async (transaction) => {
    await prepare(former, next);
    await transaction.updateTable("key_encryption_keys").set({ fingerprint: next.fingerprint }).execute();
    return rewrapDataKeys(transaction, async (stored) => wrapWith(next, await unwrapWith(former, stored)));
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

function required(key: KeyEncryption | null, kekFile: string): KeyEncryption {
  if (key) return key;
  throw new VaultError(`The key file ${kekFile} is missing: there is nothing to rotate.`);
}

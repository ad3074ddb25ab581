// The keys that sign identity tokens: made when first needed, sealed in the database, and replaced while both are published.
import { createPrivateKey, generateKeyPair, type JsonWebKey, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import { type Kysely, sql } from "kysely";
import type { Tables, Vault } from "../foundation/index.ts";

export interface SigningKey {
  kid: string;
  key: KeyObject;
}

export interface IdentityKeys {
  /** Makes one if there is none, and the next one once that is due. */
  signer(): Promise<SigningKey>;
  /** The public ones, as a JSON Web Key Set. */
  published(): Promise<{ keys: JsonWebKey[] }>;
}

const dayMs = 24 * 3_600_000;
/** A key signs for so long. */
const signsForMs = 90 * dayMs;
/** It is published for so long before it signs, so that verifiers that keep the set for a day know it. */
const publishedBeforeMs = dayMs;
/** And so long after: tokens are valid for minutes, sets are kept for a day. */
const removedAfterMs = signsForMs + 3 * dayMs;

interface DatedKey {
  created_at: Date;
}

/** Newest first. Pure: the newest that was published long enough, otherwise the oldest. */
export function chooseSigner<Key extends DatedKey>(keys: Key[], now: Date): Key | undefined {
  const isKnown = ({ created_at }: DatedKey) => now.getTime() - created_at.getTime() >= publishedBeforeMs;
  return keys.find(isKnown) ?? keys.at(-1);
}

/** Newest first. Pure. */
export function needsNext([newest]: DatedKey[], now: Date): boolean {
  return newest === undefined || now.getTime() - newest.created_at.getTime() >= signsForMs;
}

export interface KeysOptions {
  db: Kysely<Tables>;
  vault: Vault;
  /** By the clock of the database. */
  now(): Date;
}

export function openIdentityKeys(options: KeysOptions): IdentityKeys {
  const { db, vault, now } = options;
  const opened = new Map<string, KeyObject>();
  return {
    async signer() {
      let rows = await readKeys(db);
      if (needsNext(rows, now())) rows = await addKey(options);
      const row = chooseSigner(rows, now());
      if (row === undefined) throw new Error("no key for identity tokens");
      const key = opened.get(row.id) ?? (await openKey(vault, row));
      opened.set(row.id, key);
      return { kid: row.id, key };
    },
    async published() {
      const rows = await readKeys(db);
      return { keys: rows.map(({ id, public_key }) => ({ ...public_key, kid: id, use: "sig", alg: "RS256" })) };
    },
  };
}

const readKeys = (db: Kysely<Tables>) =>
  db.selectFrom("identity_keys").selectAll().orderBy("created_at", "desc").execute();

const about = (id: string): string => `identity_keys.private_key ${id}`;

async function openKey(
  vault: Vault,
  { id, data_key, private_key }: { id: string; data_key: Buffer; private_key: Buffer },
): Promise<KeyObject> {
  const der = (await vault.unwrap(data_key)).open(private_key, about(id));
  return createPrivateKey({ key: der, format: "der", type: "pkcs8" });
}

const generate = promisify(generateKeyPair);

/** Servers that do so at once make one. Returns all keys. */
async function addKey({ db, vault, now }: KeysOptions) {
  const { publicKey, privateKey } = await generate("rsa", { modulusLength: 2_048 });
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtext('identity keys'))`.execute(tx);
    const rows = await readKeys(tx);
    if (!needsNext(rows, now())) return rows;
    const public_key = publicKey.export({ format: "jwk" });
    const id = crypto.randomUUID();
    const { wrapped, key } = await vault.newDataKey();
    const sealed = key.seal(privateKey.export({ format: "der", type: "pkcs8" }), about(id));
    await tx
      .insertInto("identity_keys")
      .values({
        ...{ id, data_key: wrapped, private_key: sealed, public_key: JSON.stringify(public_key), created_at: now() },
      })
      .execute();
    await tx
      .deleteFrom("identity_keys")
      .where("created_at", "<", new Date(now().getTime() - removedAfterMs))
      .execute();
    return readKeys(tx);
  });
}

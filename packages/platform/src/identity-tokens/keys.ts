// The keys that sign identity tokens: made when first needed, sealed in the database, and replaced while both are published.
import { createPrivateKey, createPublicKey, generateKeyPair, type JsonWebKey, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import { type Kysely, sql } from "kysely";
import type { Log, Tables, Vault } from "../foundation/index.ts";

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
  log: Pick<Log, "error">;
}

export function openIdentityKeys(options: KeysOptions): IdentityKeys {
  const { db, now } = options;
  const opened = new Map<string, KeyObject>();
  return {
    async signer() {
      let keys = await readKeys(db, options, opened);
      if (needsNext(keys, now())) keys = await addKey(options, opened);
      const chosen = chooseSigner(keys, now());
      if (chosen === undefined) throw new Error("no key for identity tokens");
      return { kid: chosen.id, key: chosen.key };
    },
    async published() {
      const keys = await readKeys(db, options, opened);
      return { keys: keys.map(({ id, key }) => ({ ...publicHalf(key), kid: id, use: "sig", alg: "RS256" })) };
    },
  };
}

interface OpenedKey extends DatedKey {
  id: string;
  key: KeyObject;
}

/**
 * Those that this installation has made: its vault opens them, and both halves belong together. A key that was written to the
 * database by other means is none of them. Throws if there are keys, and none is one of them: the vault may be unavailable.
 */
async function readKeys(
  db: Kysely<Tables>,
  { vault, log }: Pick<KeysOptions, "vault" | "log">,
  opened: Map<string, KeyObject>,
): Promise<OpenedKey[]> {
  const rows = await db.selectFrom("identity_keys").selectAll().orderBy("created_at", "desc").execute();
  const keys: OpenedKey[] = [];
  let failure: unknown;
  for (const row of rows) {
    const { id, created_at, public_key } = row;
    try {
      const key = opened.get(id) ?? (await openKey(vault, row));
      const { n, e } = publicHalf(key);
      if (n !== public_key.n || e !== public_key.e) throw new Error("its halves do not belong together");
      opened.set(id, key);
      keys.push({ id, created_at, key });
    } catch (error) {
      failure = error;
      log.error("identity.key_left_out", error, { id });
    }
  }
  if (keys.length === 0 && rows.length > 0) throw failure;
  return keys;
}

const publicHalf = (key: KeyObject): JsonWebKey => createPublicKey(key).export({ format: "jwk" });

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
async function addKey(options: KeysOptions, opened: Map<string, KeyObject>): Promise<OpenedKey[]> {
  const { db, vault, now } = options;
  const { publicKey, privateKey } = await generate("rsa", { modulusLength: 2_048 });
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtext('identity keys'))`.execute(tx);
    const keys = await readKeys(tx, options, opened);
    if (!needsNext(keys, now())) return keys;
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
    return readKeys(tx, options, opened);
  });
}

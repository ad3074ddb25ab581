// Teams, users, service accounts and their keys.
import type { Kysely } from "kysely";
import type { Principal, Tables, Vault } from "../../foundation/index.ts";
import { becomePrincipal } from "./acting.ts";
import { readAuthorization } from "./authorization.ts";
import { createKey } from "./create.ts";
import { hashKey, isSameHash } from "./key.ts";
import type { CreatedKey, KeyEntry, KeyRequest, RotatedKey } from "./key-types.ts";
import { rotateKey } from "./rotate.ts";
import { findKey, listKeys, noteUse, revokeKey, type StoredKey } from "./store.ts";
import { createSubToken, type SubToken, type SubTokenUser } from "./sub-tokens.ts";

export interface Principals {
  /** Accepts the value of an Authorization header: Basic (the key as user name or password) or Bearer. */
  authenticate(authorization: string | undefined): Promise<Authentication>;
  /** As it is now, by the id of its key; null if there is no such key, or it is not valid any more. */
  find(keyId: string): Promise<Principal | null>;
  /** The whole key is only in the result. */
  createKey(request: KeyRequest): Promise<CreatedKey>;
  /** For a user of the team of a service account; null if there is none. The whole key is only in the result. */
  createSubToken(principal: Principal, user: SubTokenUser): Promise<SubToken | null>;
  listKeys(teamId?: number): Promise<KeyEntry[]>;
  /** False if there is no such key. Takes effect on every server within a second. */
  revokeKey(keyId: string): Promise<boolean>;
  /** Creates a key with the same name, owner and scopes; the former key stays valid for the overlap. */
  rotateKey(keyId: string, overlapMs: number): Promise<RotatedKey>;
}

export type Authentication = { kind: "known"; principal: Principal } | { kind: "refused"; reason: string };

export interface PrincipalsOptions {
  db: Kysely<Tables>;
  vault: Vault;
  now: () => Date;
}

export function openPrincipals({ db, vault, now }: PrincipalsOptions): Principals {
  const lookUp = cacheBriefly((id) => findKey(db, id), now);
  return {
    async authenticate(authorization) {
      const presented = readAuthorization(authorization);
      if (presented.kind === "none") return { kind: "refused", reason: presented.reason };
      const stored = await lookUp(presented.id);
      const judged = judge(presented.key, stored, now());
      if (stored === null || judged.kind === "refused") return judged;
      becomePrincipal(judged.principal, stored);
      await noteUse(db, stored, now());
      return judged;
    },
    async find(keyId) {
      const stored = await lookUp(keyId);
      return stored && endOf(stored, now()) === null ? stored.principal : null;
    },
    createKey: (request) => createKey(db, vault, request),
    createSubToken: (principal, user) => createSubToken(db, principal, user),
    listKeys: (teamId) => listKeys(db, teamId),
    revokeKey: (id) => revokeKey(db, id),
    rotateKey: (id, overlapMs) => rotateKey(db, id, new Date(now().getTime() + overlapMs)),
  };
}

function judge(key: string, stored: StoredKey | null, now: Date): Authentication {
  // Without the right secret the response does not reveal that the key exists.
  if (!stored || !isSameHash(stored.hash, hashKey(key)))
    return { kind: "refused", reason: "Invalid API key. Create one on the keys page, or ask an administrator." };
  const reason = endOf(stored, now);
  return reason === null ? { kind: "known", principal: stored.principal } : { kind: "refused", reason };
}

/** Why the key is not valid any more; null where it is. */
function endOf({ revokedAt, expiresAt }: StoredKey, now: Date): string | null {
  if (revokedAt) return "The API key has been revoked. Use another.";
  if (expiresAt && expiresAt <= now) return `The API key expired at ${expiresAt.toISOString()}. Use another.`;
  return null;
}

/** Below one second: a revocation must take effect within that. */
const cacheMs = 800;
const maxCached = 10_000;

/** Saves a query for most requests of a busy key. Unknown keys are not cached. */
function cacheBriefly(find: (id: string) => Promise<StoredKey | null>, now: () => Date) {
  const cache = new Map<string, { stored: StoredKey; until: number }>();
  return async (id: string): Promise<StoredKey | null> => {
    const recent = cache.get(id);
    if (recent && now().getTime() < recent.until) return recent.stored;
    const until = now().getTime() + cacheMs;
    const stored = await find(id);
    if (cache.size >= maxCached) cache.clear();
    if (stored) cache.set(id, { stored, until });
    return stored;
  };
}

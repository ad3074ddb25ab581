// Teams, users, service accounts and their keys.
import type { Kysely } from "kysely";
import { becomeActor, type Tables } from "../db/index.ts";
import type { Vault } from "../vault/index.ts";
import { readAuthorization } from "./authorization.ts";
import { createKey } from "./create.ts";
import { hashKey, isSameHash } from "./key.ts";
import { type Principal, principalName, type Role, type Scope } from "./principal.ts";
import { rotateKey } from "./rotate.ts";
import { findKey, listKeys, noteUse, revokeKey, type StoredKey } from "./store.ts";

export interface Principals {
  /** Takes the value of an Authorization header: Basic (the key is the user name) or Bearer. */
  authenticate(authorization: string | undefined): Promise<Authentication>;
  /** The whole key is in the answer and nowhere else. */
  createKey(request: KeyRequest): Promise<CreatedKey>;
  listKeys(teamId?: number): Promise<KeyEntry[]>;
  /** False where there is no such key. Seen by every server within a second. */
  revokeKey(keyId: string): Promise<boolean>;
  /** A key with the name, owner and scopes of another, which goes on for a while. */
  rotateKey(keyId: string, overlapMs: number): Promise<RotatedKey>;
}

export type Authentication = { kind: "known"; principal: Principal } | { kind: "refused"; reason: string };

export interface KeyRequest {
  name: string;
  /** Made where it does not exist. */
  team: string;
  owner: KeyOwner;
  /** Null: all that the owner may do. */
  scopes: Scope[] | null;
  expiresAt: Date | null;
}

/** A user without an e-mail address is the first administrator of the team. The first user of a team is one. */
export type KeyOwner = { kind: "user"; email: string | null } | { kind: "service_account"; name: string };

export interface CreatedKey {
  id: string;
  key: string;
  teamId: number;
}

export interface RotatedKey extends CreatedKey {
  /** When the former one ends. */
  formerUntil: Date;
}

export interface KeyEntry {
  id: string;
  name: string;
  team: string;
  owner: { kind: "user"; userId: number; email: string; role: Role } | { kind: "service_account"; name: string };
  scopes: Scope[];
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  /** To the minute. */
  lastUsedAt: Date | null;
  /** The key it was rotated into. */
  successorId: string | null;
}

export interface PrincipalsOptions {
  db: Kysely<Tables>;
  vault: Vault;
  now: () => Date;
}

export function openPrincipals({ db, vault, now }: PrincipalsOptions): Principals {
  const lookUp = rememberBriefly((id) => findKey(db, id), now);
  return {
    async authenticate(authorization) {
      const presented = readAuthorization(authorization);
      if (presented.kind === "none") return { kind: "refused", reason: presented.reason };
      const stored = await lookUp(presented.id);
      const judged = judge(presented.key, stored, now());
      if (stored === null || judged.kind === "refused") return judged;
      becomeActor(principalName(judged.principal));
      await noteUse(db, stored, now());
      return judged;
    },
    createKey: (request) => createKey(db, vault, request),
    listKeys: (teamId) => listKeys(db, teamId),
    revokeKey: (id) => revokeKey(db, id),
    rotateKey: (id, overlapMs) => rotateKey(db, id, new Date(now().getTime() + overlapMs)),
  };
}

function judge(key: string, stored: StoredKey | null, now: Date): Authentication {
  // Without the right secret nothing is said about a key that exists.
  if (!stored || !isSameHash(stored.hash, hashKey(key)))
    return { kind: "refused", reason: "The API key is not known. Make one with: platform keys create --name NAME" };
  if (stored.revokedAt) return { kind: "refused", reason: "The API key has been revoked. Use another." };
  if (stored.expiresAt && stored.expiresAt <= now)
    return { kind: "refused", reason: `The API key expired at ${stored.expiresAt.toISOString()}. Use another.` };
  return { kind: "known", principal: stored.principal };
}

/** Less than the second within which a revocation must be seen. */
const rememberedMs = 800;
const mostRemembered = 10_000;

/** Spares a query for most of the requests of a busy key. Keys that are not known are not remembered. */
function rememberBriefly(find: (id: string) => Promise<StoredKey | null>, now: () => Date) {
  const known = new Map<string, { stored: StoredKey; until: number }>();
  return async (id: string): Promise<StoredKey | null> => {
    const recent = known.get(id);
    if (recent && now().getTime() < recent.until) return recent.stored;
    const until = now().getTime() + rememberedMs;
    const stored = await find(id);
    if (known.size >= mostRemembered) known.clear();
    if (stored) known.set(id, { stored, until });
    return stored;
  };
}

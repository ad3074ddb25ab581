// Keys and their owners in the database.
import { sql } from "kysely";
import { type Principal, type Queries, type Scope, scopesOf } from "../../foundation/index.ts";
import type { KeyEntry } from "./key-types.ts";

export interface StoredKey {
  id: string;
  hash: Buffer;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  /** Its user joined by a link and has proved no address. */
  isUnproved: boolean;
  principal: Principal;
}

export async function findKey(db: Queries, id: string): Promise<StoredKey | null> {
  const row = await withOwners(db).where("api_keys.id", "=", id).executeTakeFirst();
  if (!row) return null;
  const { hash, last_used_at: lastUsedAt, joined_by_link } = row;
  const isUnproved = joined_by_link === true;
  return {
    id,
    hash,
    isUnproved,
    expiresAt: expiryOf(row),
    revokedAt: endOf(row),
    lastUsedAt,
    principal: principalOf(row),
  };
}

export async function listKeys(db: Queries, teamId: number | undefined): Promise<KeyEntry[]> {
  // Those of an hour are not managed one by one.
  const all = withOwners(db).where("api_keys.parent_id", "is", null).orderBy("api_keys.created_at");
  const rows = await (teamId === undefined ? all : all.where("api_keys.team_id", "=", teamId)).execute();
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    team: row.team,
    owner: ownerOf(row),
    scopes: row.scopes as Scope[],
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: endOf(row),
    lastUsedAt: row.last_used_at,
    successorId: row.successor_id,
  }));
}

/** One write per minute is enough to see whether a key is still used. */
const noticeMs = 60_000;

export async function noteUse(db: Queries, stored: StoredKey, now: Date): Promise<void> {
  if (stored.lastUsedAt && now.getTime() - stored.lastUsedAt.getTime() < noticeMs) return;
  stored.lastUsedAt = now;
  await db.updateTable("api_keys").set({ last_used_at: now }).where("id", "=", stored.id).execute();
}

export async function revokeKey(db: Queries, id: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("api_keys")
    .set({ revoked_at: sql<Date>`coalesce(revoked_at, now())` })
    .where("id", "=", id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

const withOwners = (db: Queries) =>
  db
    .selectFrom("api_keys")
    .innerJoin("teams", "teams.id", "api_keys.team_id")
    .leftJoin("users", "users.id", "api_keys.user_id")
    .leftJoin("service_accounts", "service_accounts.id", "api_keys.service_account_id")
    .leftJoin("api_keys as parent", "parent.id", "api_keys.parent_id")
    .selectAll("api_keys")
    .select([
      "teams.name as team",
      "users.email",
      "users.first_name",
      "users.last_name",
      "users.role",
      "users.removed_at as owner_removed_at",
      "users.joined_by_link",
      "service_accounts.name as account_name",
      "parent.revoked_at as parent_revoked_at",
      "parent.expires_at as parent_expires_at",
    ]);

type KeyRow = Awaited<ReturnType<ReturnType<typeof withOwners>["executeTakeFirstOrThrow"]>>;

/** A key created while its owner was being removed is revoked too. */
const endOf = ({ revoked_at, owner_removed_at, parent_revoked_at }: KeyRow): Date | null =>
  revoked_at ?? owner_removed_at ?? parent_revoked_at;

/** No later than that of the key it was made with. */
function expiryOf({ expires_at, parent_expires_at }: KeyRow): Date | null {
  if (expires_at === null || parent_expires_at === null) return expires_at ?? parent_expires_at;
  return expires_at < parent_expires_at ? expires_at : parent_expires_at;
}

function principalOf(row: KeyRow): Principal {
  const shared = {
    teamId: row.team_id,
    keyId: row.id,
    keyName: row.name,
    createdAt: row.created_at,
    // Never more than the owner's current role allows.
    scopes: scopesOf(row.role).filter((scope) => row.scopes.includes(scope)),
  };
  if (row.service_account_id !== null)
    return {
      ...shared,
      kind: "service_account",
      serviceAccountId: row.service_account_id,
      name: row.account_name ?? "",
    };
  const { user_id: userId, email, role, first_name: firstName, last_name: lastName } = row;
  if (userId === null || email === null || role === null) throw new Error(`key ${row.id} has no owner`);
  return { ...shared, kind: "user", userId, email, role, firstName, lastName };
}

function ownerOf(row: KeyRow): KeyEntry["owner"] {
  const principal = principalOf(row);
  if (principal.kind === "service_account") return { kind: "service_account", name: principal.name };
  const { userId, email, role } = principal;
  return { kind: "user", userId, email, role };
}

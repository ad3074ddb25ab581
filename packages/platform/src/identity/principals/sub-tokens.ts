// Keys of users that a service account makes for an hour: they have its scopes at most, and end with its key.
import { type Kysely, sql } from "kysely";
import type { Principal, Tables } from "../../foundation/index.ts";
import { makeKey } from "./key.ts";
import { findMember } from "./users.ts";

export interface SubToken {
  accessToken: string;
  expiresAt: Date;
  userId: number;
}

/** Exactly one of them. */
export interface SubTokenUser {
  email: string | undefined;
  id: number | undefined;
}

/** Null if the team has no such user. */
export async function createSubToken(
  db: Kysely<Tables>,
  { teamId, keyId, keyName, scopes }: Principal,
  { email, id }: SubTokenUser,
): Promise<SubToken | null> {
  const user = email === undefined ? await findById(db, teamId, id ?? 0) : await findMember(db, teamId, email);
  if (user === undefined || user.removed_at !== null) return null;
  const made = makeKey();
  return db.transaction().execute(async (tx) => {
    await tx
      .deleteFrom("api_keys")
      .where("parent_id", "=", keyId)
      .where("expires_at", "<", sql<Date>`now() - interval '1 day'`)
      .execute();
    const { expires_at } = await tx
      .insertInto("api_keys")
      .values({
        ...{ id: made.id, hash: made.hash, name: `for ${keyName}`, team_id: teamId, parent_id: keyId },
        ...{ user_id: user.id, service_account_id: null, scopes, revoked_at: null },
        expires_at: sql<Date>`now() + interval '1 hour'`,
      })
      .returning("expires_at")
      .executeTakeFirstOrThrow();
    return { accessToken: made.key, expiresAt: expires_at ?? new Date(), userId: user.id };
  });
}

const findById = (db: Kysely<Tables>, teamId: number, id: number) =>
  db
    .selectFrom("users")
    .select(["id", "removed_at"])
    .where("team_id", "=", teamId)
    .where("id", "=", id)
    .executeTakeFirst();

// Replaces a key by a new one like it. Both are valid for the overlap, so that clients can switch.
import type { Kysely } from "kysely";
import type { Tables } from "../../foundation/index.ts";
import { refuseFormerUser } from "./acting.ts";
import { makeKey } from "./key.ts";
import type { RotatedKey } from "./key-types.ts";
import { PrincipalError } from "./principal-error.ts";

export function rotateKey(db: Kysely<Tables>, id: string, formerUntil: Date): Promise<RotatedKey> {
  return db.transaction().execute(async (transaction) => {
    await refuseFormerUser(transaction);
    const former = await transaction
      .selectFrom("api_keys")
      .selectAll()
      .where("id", "=", id)
      .forUpdate()
      .executeTakeFirst();
    if (!former) throw new PrincipalError(`There is no key ${id}. To list keys: platform keys list`);
    if (former.revoked_at) throw new PrincipalError(`The key ${id} was revoked. Create a new one.`);
    if (former.successor_id !== null)
      throw new PrincipalError(`The key ${id} was already rotated into ${former.successor_id}. Rotate that one.`);
    const now = new Date();
    if (former.expires_at && former.expires_at <= now)
      throw new PrincipalError(`The key ${id} has expired. Create a new one.`);
    const { id: successorId, key, hash } = makeKey();
    const { team_id, user_id, service_account_id, name, scopes } = former;
    await transaction
      .insertInto("api_keys")
      .values({
        ...{ id: successorId, hash, team_id, user_id, service_account_id, name, scopes, revoked_at: null },
        expires_at: renewed(former.created_at, former.expires_at, now),
      })
      .execute();
    const until = former.expires_at && former.expires_at < formerUntil ? former.expires_at : formerUntil;
    const ending = transaction.updateTable("api_keys").set({ successor_id: successorId, expires_at: until });
    await ending.where("id", "=", id).execute();
    return { id: successorId, key, teamId: team_id, formerUntil: until };
  });
}

/** The successor of a 90-day key is valid for 90 days. */
const renewed = (createdAt: Date, expiresAt: Date | null, now: Date): Date | null =>
  expiresAt && new Date(now.getTime() + expiresAt.getTime() - createdAt.getTime());

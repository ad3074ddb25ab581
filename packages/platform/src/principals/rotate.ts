// Replaces a key by another one like it. Both are good until whoever uses it had time to change.
import type { Kysely } from "kysely";
import type { Tables } from "../db/index.ts";
import { makeKey } from "./key.ts";
import type { RotatedKey } from "./principals.ts";
import { PrincipalProblem } from "./problem.ts";

export function rotateKey(db: Kysely<Tables>, id: string, formerUntil: Date): Promise<RotatedKey> {
  return db.transaction().execute(async (transaction) => {
    const former = await transaction
      .selectFrom("api_keys")
      .selectAll()
      .where("id", "=", id)
      .forUpdate()
      .executeTakeFirst();
    if (!former) throw new PrincipalProblem(`There is no key ${id}. platform keys list shows them.`);
    if (former.revoked_at) throw new PrincipalProblem(`The key ${id} was revoked. Make a new one.`);
    if (former.successor_id !== null)
      throw new PrincipalProblem(`The key ${id} was rotated into ${former.successor_id} already. Rotate that one.`);
    const now = new Date();
    if (former.expires_at && former.expires_at <= now)
      throw new PrincipalProblem(`The key ${id} expired. Make a new one.`);
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

/** A key that was made for 90 days is followed by one for 90 days. */
const renewed = (createdAt: Date, expiresAt: Date | null, now: Date): Date | null =>
  expiresAt && new Date(now.getTime() + expiresAt.getTime() - createdAt.getTime());

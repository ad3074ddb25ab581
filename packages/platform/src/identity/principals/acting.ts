// The user or service account that a request acts for, and whether what a user makes with it is still theirs.
import {
  ApiError,
  becomeActor,
  type Principal,
  principalName,
  type Queries,
  unprovedUserId,
} from "../../foundation/index.ts";

export function becomePrincipal(principal: Principal, { isUnproved }: { isUnproved: boolean }): void {
  becomeActor(principalName(principal), isUnproved && principal.kind === "user" ? principal.userId : null);
}

/** What users asked for before they were removed, or before another person proved their address, does not begin any more. */
export async function isFormerUser(db: Queries, { userId, since }: { userId: number | null; since: Date }) {
  if (userId === null) return false;
  const query = db.selectFrom("users").select(["removed_at", "proved_at"]).where("id", "=", userId);
  const user = await query.executeTakeFirst();
  return !user || user.removed_at !== null || (user.proved_at !== null && since < user.proved_at);
}

/**
 * In a transaction that makes something of a user. The owner of the address may have proved it since the request of one who
 * joined by a link was authenticated: it would belong to the owner. It cannot be proved before the transaction ends.
 */
export async function refuseFormerUser(tx: Queries): Promise<void> {
  const userId = unprovedUserId();
  if (userId !== null && !(await lockUser(tx, userId))?.joined_by_link) throw hasEnded();
}

/** The same for what the platform begins for a user by itself, such as a firing, because of what they once set up. */
export async function refuseFormerOwner(tx: Queries, principal: Principal): Promise<void> {
  if (principal.kind !== "user") return;
  const user = await lockUser(tx, principal.userId);
  if (!user || (user.proved_at !== null && principal.createdAt < user.proved_at)) throw hasEnded();
}

/** The user may have been removed since the request was authenticated. Until the transaction ends, it is not. */
export async function refuseRemovedUser(tx: Queries, principal: Principal): Promise<void> {
  if (principal.kind !== "user") return;
  const user = await lockUser(tx, principal.userId);
  if (!user || user.removed_at !== null)
    throw new ApiError("unauthorized", "This session or key has ended: its user was removed. Ask an administrator.");
}

const lockUser = (tx: Queries, userId: number) =>
  tx
    .selectFrom("users")
    .select(["joined_by_link", "proved_at", "removed_at"])
    .where("id", "=", userId)
    .forShare()
    .executeTakeFirst();

const hasEnded = () =>
  new ApiError("unauthorized", "This session or key has ended: the owner of the address has logged in. Ask them.");

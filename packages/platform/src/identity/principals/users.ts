// Users as rows: created or restored, changed, removed. A team always keeps one administrator.
import { type Kysely, sql, type Transaction } from "kysely";
import { notify, type Queries, type Role, type Tables, type UserTable } from "../../foundation/index.ts";
import { isAddress } from "./address.ts";
import { PrincipalError } from "./principal-error.ts";

export interface NewUser {
  teamId: number;
  email: string;
  role: Role;
}

const usersWith = (db: Queries, email: string) =>
  db
    .selectFrom("users")
    .select(["id", "team_id", "email", "role", "removed_at", "joined_by_link"])
    .where(isAddress(email));

/** The one user of an address, in whatever team; not those who joined another team under it without proof. */
export const findUser = (db: Queries, email: string) =>
  usersWith(db, email).where("has_shared_address", "=", false).executeTakeFirst();

export const findMember = (db: Queries, teamId: number, email: string) =>
  usersWith(db, email).where("team_id", "=", teamId).executeTakeFirst();

/**
 * For a person of this team who has proved the address: users of other teams who have not, or are removed, give it up, to
 * the user of this team if there is one.
 */
export async function claimAddress(db: Queries, teamId: number, email: string) {
  const holder = await findUser(db, email);
  if (!holder || holder.team_id === teamId) return holder;
  if (!holder.joined_by_link && holder.removed_at === null) return holder;
  await db.updateTable("users").set({ has_shared_address: true }).where("id", "=", holder.id).execute();
  const member = await findMember(db, teamId, email);
  if (member) await db.updateTable("users").set({ has_shared_address: false }).where("id", "=", member.id).execute();
  return member;
}

/**
 * A person proves the address of a user who joined by a link: what was opened without proof ends, or acts no more, and
 * nothing that was set up for agents of the user reaches those of the person.
 */
export async function proveAddress(db: Queries, userId: number): Promise<void> {
  const now = new Date();
  const proved = { joined_by_link: false, proved_at: now };
  await db.updateTable("users").set(proved).where("id", "=", userId).execute();
  await endAccess(db, userId, now);
  await removeSettings(db, userId);
  await cancelRuns(db, userId, now);
}

/** Those that wait too: each would reach what its user reaches by then. */
async function cancelRuns(db: Queries, userId: number, now: Date): Promise<void> {
  const cancelled = await db
    .updateTable("runs")
    .set({ cancel_requested_at: now })
    .where("user_id", "=", userId)
    .where("status", "in", ["CREATING", "RUNNING"])
    .returning("id")
    .execute();
  for (const { id } of cancelled) await notify(db, "cancels", id);
}

/** What reaches agents of the user. */
async function removeSettings(db: Queries, userId: number): Promise<void> {
  await db.deleteFrom("secrets").where("user_id", "=", userId).execute();
  // What their agents began with: those that run again choose again.
  const agents = db.selectFrom("agents").select("id").where("user_id", "=", userId);
  await db.deleteFrom("agent_secrets").where("agent_id", "in", agents).execute();
  await db.deleteFrom("user_settings").where("user_id", "=", userId).execute();
  await db.deleteFrom("environments").where("user_id", "=", userId).execute();
  await db.deleteFrom("workers").where("user_id", "=", userId).execute();
}

/**
 * Null if the address is in use. A user removed from the same team is restored. One who proves no address becomes a
 * user of the team even if another team has a user with it: a refusal would tell that.
 */
export async function admitUser(
  db: Queries,
  { teamId, email, role }: NewUser,
  proof: "address" | "link" = "address",
): Promise<number | null> {
  const member = await findMember(db, teamId, email);
  if (member) {
    if (member.removed_at === null) return null;
    const restored = { role, removed_at: null, joined_by_link: proof === "link" };
    await db.updateTable("users").set(restored).where("id", "=", member.id).execute();
    // Keys and sessions that began while the user was being removed.
    await endAccess(db, member.id, new Date());
    // The address may be another person's by now.
    await db.deleteFrom("identities").where("user_id", "=", member.id).execute();
    if (member.joined_by_link && proof === "address") await proveAddress(db, member.id);
    // Who opens a link need not be who was removed.
    if (!member.joined_by_link && proof === "link") await removeSettings(db, member.id);
    return member.id;
  }
  const holder = await (proof === "link" ? findUser(db, email) : claimAddress(db, teamId, email));
  const isInUse = holder !== undefined;
  if (isInUse && proof === "address") return null;
  const inserted = await db
    .insertInto("users")
    .values({ team_id: teamId, email, role, has_shared_address: isInUse, joined_by_link: proof === "link" })
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
  return inserted?.id ?? null;
}

export interface UserIdentity {
  id: number;
  email: string;
}

/** Locks the team row: two removals at once would leave the team without an administrator. */
async function keepAdministrator(db: Transaction<Tables>, { id, email }: UserIdentity): Promise<void> {
  const team = db.selectFrom("users").select("team_id").where("id", "=", id);
  await db.selectFrom("teams").select("id").where("id", "=", team).forUpdate().execute();
  const administrators = await db
    .selectFrom("users")
    .select("id")
    .where("team_id", "=", team)
    .where("role", "=", "admin")
    .where("removed_at", "is", null)
    .execute();
  if (administrators.length === 1 && administrators[0]?.id === id)
    throw new PrincipalError(`${email} is the only administrator of the team. Appoint another one first.`);
}

export async function changeUser(
  db: Transaction<Tables>,
  user: UserIdentity,
  values: Partial<Pick<UserTable, "role" | "spend_limit_usd">>,
): Promise<void> {
  if (values.role === "member") {
    await keepAdministrator(db, user);
    await db
      .updateTable("api_keys")
      .set({ scopes: sql<string[]>`array_remove(scopes, 'admin')` })
      .where("user_id", "=", user.id)
      .execute();
  }
  await db.updateTable("users").set(values).where("id", "=", user.id).execute();
}

async function endAccess(db: Queries, userId: number, now: Date): Promise<void> {
  const keys = db.updateTable("api_keys").set({ revoked_at: now }).where("user_id", "=", userId);
  await keys.where("revoked_at", "is", null).execute();
  const sessions = db.updateTable("sessions").set({ ended_at: now }).where("user_id", "=", userId);
  await sessions.where("ended_at", "is", null).execute();
  await db.deleteFrom("login_links").where("user_id", "=", userId).execute();
  await db.deleteFrom("source_accounts").where("user_id", "=", userId).execute();
  // Where the user, or another person, learns what others do with these agents afterwards.
  const agents = db.selectFrom("agents").select("id").where("user_id", "=", userId);
  await db.deleteFrom("webhooks").where("agent_id", "in", agents).execute();
}

/**
 * The row stays for the user's agents; keys, sessions, links, invitations and webhooks end. The accounts of a provider stay
 * with it too: another address of one, of an allowed domain, does not let the user back in.
 */
export function removeUser(db: Kysely<Tables>, user: UserIdentity): Promise<void> {
  return db.transaction().execute(async (transaction) => {
    await keepAdministrator(transaction, user);
    const now = new Date();
    await transaction.updateTable("users").set({ removed_at: now }).where("id", "=", user.id).execute();
    await endAccess(transaction, user.id, now);
    // An unused invitation would let the user back in.
    const team = transaction.selectFrom("users").select("team_id").where("id", "=", user.id);
    const invitations = transaction.updateTable("invitations").set({ revoked_at: now }).where("team_id", "=", team);
    const waiting = invitations.where("accepted_at", "is", null).where("revoked_at", "is", null);
    await waiting.where(isAddress(user.email)).execute();
  });
}

// Maps a verified login to a user. The provider's subject decides; the e-mail address is used once, to bind it.
import type { Kysely, Transaction } from "kysely";
import type { OidcSettings, Tables } from "../../foundation/index.ts";
import { acceptInvitation, openInvitations } from "../invitations/index.ts";
import { admitUser, changeUser, claimAddress, lowerCase, PrincipalError, proveAddress } from "../principals/index.ts";
import { type Claims, LoginRefused } from "./provider.ts";

export interface VerifiedLogin {
  claims: Claims;
  /** Secret of the invitation that the login started from. */
  invitation: string | null;
}

export interface LoginContext {
  db: Kysely<Tables>;
  settings: OidcSettings;
  teamId: number;
}

/** Throws LoginRefused if the login maps to no user. */
export function userFor(context: LoginContext, login: VerifiedLogin): Promise<number> {
  return context.db.transaction().execute(async (db) => {
    // Serialises first logins: two at once create one user.
    await db.selectFrom("teams").select("id").where("id", "=", context.teamId).forUpdate().execute();
    const bound = await boundUser(db, login.claims);
    const isKnown = bound !== undefined && bound.removed_at === null;
    const isRemoved = !isKnown && bound?.team_id === context.teamId;
    const userId = isKnown ? bound.id : await firstLogin(db, context, { ...login, isRemoved });
    if (!isKnown) await bindTo(db, userId, login.claims);
    await setRole(db, context, { userId, groups: login.claims.groups });
    return userId;
  });
}

/** One who was removed stays bound until the user is restored: the account may have another address by now. */
const boundUser = (db: Transaction<Tables>, { issuer, subject }: Claims) =>
  db
    .selectFrom("identities")
    .innerJoin("users", "users.id", "identities.user_id")
    .select(["users.id", "users.team_id", "users.removed_at"])
    .where("issuer", "=", issuer)
    .where("subject", "=", subject)
    .executeTakeFirst();

const bindTo = (db: Transaction<Tables>, userId: number, { issuer, subject }: Claims) =>
  db
    .insertInto("identities")
    .values({ issuer, subject, user_id: userId })
    .onConflict((conflict) => conflict.columns(["issuer", "subject"]).doUpdateSet({ user_id: userId }))
    .execute();

interface FirstLogin extends VerifiedLogin {
  /** The account belongs to a user who was removed from the team. */
  isRemoved: boolean;
}

async function firstLogin(
  db: Transaction<Tables>,
  context: LoginContext,
  { claims, invitation, isRemoved }: FirstLogin,
): Promise<number> {
  const email = claims.verifiedEmail;
  if (email === null)
    throw new LoginRefused(
      "email_not_verified",
      "The provider has not verified your e-mail address. Verify it there, then log in again.",
    );
  if (invitation !== null) await checkInvitation(db, invitation, email);
  const existing = await claimAddress(db, context.teamId, email);
  if (existing && existing.removed_at === null) {
    const id = await bindExisting(db, { id: existing.id, email, issuer: claims.issuer });
    if (existing.joined_by_link) await proveAddress(db, id);
    return id;
  }
  const now = new Date();
  const byLink = invitation === null ? null : await acceptInvitation(db, { secret: invitation, proof: "address" }, now);
  const invited = byLink ?? (await acceptInvitation(db, { teamId: context.teamId, email }, now));
  if (invited !== null) return invited;
  if (existing || isRemoved)
    throw new LoginRefused("removed", `${email} was removed from the team. Ask an administrator for an invitation.`);
  return admitByAllowList(db, context, email);
}

async function checkInvitation(db: Transaction<Tables>, secret: string, email: string): Promise<void> {
  const found = await openInvitations(db, () => new Date()).find(secret);
  if (found && lowerCase(found.email) !== lowerCase(email))
    throw new LoginRefused(
      "other_address",
      `The invitation is for ${found.email}, but you logged in as ${email}. Log in with that address, or ask for another invitation.`,
    );
}

/** An address reassigned at the provider must not give access to the former owner's user. */
async function bindExisting(
  db: Transaction<Tables>,
  { id, email, issuer }: { id: number; email: string; issuer: string },
): Promise<number> {
  const bound = db.selectFrom("identities").select("subject").where("user_id", "=", id).where("issuer", "=", issuer);
  if ((await bound.executeTakeFirst()) === undefined) return id;
  throw new LoginRefused(
    "address_is_bound",
    `${email} belongs to another account of the provider here. Ask an administrator to remove that user first.`,
  );
}

async function admitByAllowList(
  db: Transaction<Tables>,
  { settings, teamId }: LoginContext,
  email: string,
): Promise<number> {
  const address = lowerCase(email);
  const domain = address.slice(address.lastIndexOf("@") + 1);
  const isAllowed =
    settings.allowedDomains.includes(domain) ||
    settings.allowedEmails.some((allowed) => lowerCase(allowed) === address);
  const userId = isAllowed ? await admitUser(db, { teamId, email, role: "member" }) : null;
  if (userId !== null) return userId;
  throw new LoginRefused("not_invited", `${email} has no user here. Ask an administrator for an invitation.`);
}

interface Member {
  userId: number;
  groups: string[];
}

async function setRole(db: Transaction<Tables>, { settings, teamId }: LoginContext, { userId, groups }: Member) {
  const { administrators } = settings;
  if (administrators === null) return;
  const user = await db
    .selectFrom("users")
    .select(["id", "email", "role", "team_id"])
    .where("id", "=", userId)
    .executeTakeFirstOrThrow();
  const role = groups.some((group) => administrators.groups.includes(group)) ? "admin" : "member";
  if (role === user.role || user.team_id !== teamId) return;
  try {
    await changeUser(db, user, { role });
  } catch (error) {
    // The last administrator keeps the role: a team without one could not be managed.
    if (!(error instanceof PrincipalError)) throw error;
  }
}

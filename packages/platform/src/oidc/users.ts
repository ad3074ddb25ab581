// Which user somebody is whom a provider vouches for. The subject decides; an address counts once, to bind it.
import type { Kysely, Transaction } from "kysely";
import type { OidcSettings } from "../config/index.ts";
import type { Tables } from "../db/index.ts";
import { acceptInvitation, openInvitations } from "../invitations/index.ts";
import { admitUser, changeUser, findUser, lowerCase, PrincipalProblem } from "../principals/index.ts";
import { type Claims, LoginRefused } from "./provider.ts";

export interface Arrival {
  claims: Claims;
  /** The secret of the invitation that the browser came with. */
  invitation: string | null;
}

export interface UserDesk {
  db: Kysely<Tables>;
  settings: OidcSettings;
  teamId: number;
}

/** Throws LoginRefused where it is nobody who may come in. */
export function userFor(desk: UserDesk, arrival: Arrival): Promise<number> {
  return desk.db.transaction().execute(async (db) => {
    // Whoever logs in twice at once becomes one user.
    await db.selectFrom("teams").select("id").where("id", "=", desk.teamId).forUpdate().execute();
    const { issuer, subject } = arrival.claims;
    const userId = (await boundUser(db, arrival.claims)) ?? (await newcomer(db, desk, arrival));
    const identity = { issuer, subject, user_id: userId };
    await db
      .insertInto("identities")
      .values(identity)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await setRole(db, desk, { userId, groups: arrival.claims.groups });
    return userId;
  });
}

const boundUser = async (db: Transaction<Tables>, { issuer, subject }: Claims): Promise<number | undefined> =>
  (
    await db
      .selectFrom("identities")
      .select("user_id")
      .where("issuer", "=", issuer)
      .where("subject", "=", subject)
      .executeTakeFirst()
  )?.user_id;

async function newcomer(db: Transaction<Tables>, desk: UserDesk, { claims, invitation }: Arrival): Promise<number> {
  const email = claims.verifiedEmail;
  if (email === null)
    throw new LoginRefused(
      "email_not_verified",
      "The provider has not verified your e-mail address. Verify it there, then log in again.",
    );
  if (invitation !== null) await checkInvitation(db, invitation, email);
  const known = await findUser(db, email);
  if (known && known.removed_at === null) return knownUser(db, { id: known.id, email, issuer: claims.issuer });
  const now = new Date();
  const byLink = invitation === null ? null : await acceptInvitation(db, { secret: invitation }, now);
  const invited = byLink ?? (await acceptInvitation(db, { teamId: desk.teamId, email }, now));
  if (invited !== null) return invited;
  if (known)
    throw new LoginRefused("removed", `${email} was removed from the team. Ask an administrator for an invitation.`);
  return welcome(db, desk, email);
}

async function checkInvitation(db: Transaction<Tables>, secret: string, email: string): Promise<void> {
  const found = await openInvitations(db, () => new Date()).find(secret);
  if (found && lowerCase(found.email) !== lowerCase(email))
    throw new LoginRefused(
      "other_address",
      `The invitation is for ${found.email}, and you are ${email}. Log in with that address, or ask for another invitation.`,
    );
}

/** An address that was somebody else's there must not become the key to their user here. */
async function knownUser(
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

async function welcome(db: Transaction<Tables>, { settings, teamId }: UserDesk, email: string): Promise<number> {
  const address = lowerCase(email);
  const domain = address.slice(address.lastIndexOf("@") + 1);
  const isWelcome = settings.allowedDomains.includes(domain) || settings.allowedEmails.includes(address);
  const userId = isWelcome ? await admitUser(db, { teamId, email, role: "member" }) : null;
  if (userId !== null) return userId;
  throw new LoginRefused("not_invited", `${email} is not known here. Ask an administrator for an invitation.`);
}

interface Member {
  userId: number;
  groups: string[];
}

async function setRole(db: Transaction<Tables>, { settings, teamId }: UserDesk, { userId, groups }: Member) {
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
    // The only administrator stays one: a team without any could not be helped.
    if (!(error instanceof PrincipalProblem)) throw error;
  }
}

// The visitor of a page: a user whose browser has a session.
import type { Context } from "hono";
import type { Env, PlatformContext } from "../foundation/index.ts";
import {
  createFirstUser,
  lowerCase,
  makeLoginLink,
  openAdministration,
  PrincipalError,
  type Session,
  type SessionAuthenticator,
} from "../identity/index.ts";

export type Visitor = Session;

/** Valid for half an hour and one browser. Without an address it is for the first administrator, who is created if there are no users. */
export async function loginLink(
  { db, vault }: PlatformContext,
  baseUrl: string,
  email: string | null = null,
): Promise<string> {
  const users = await openAdministration(db, vault).listUsers(null);
  if (users.length === 0) return makeLoginLink(db, (await createFirstUser(db, vault, email)).id, baseUrl);
  const user = users.find((one) => (email === null ? one.role === "admin" : isSameAddress(one.email, email)));
  if (user) return makeLoginLink(db, user.id, baseUrl);
  throw new PrincipalError(
    `There is no ${email === null ? "administrator" : `user ${email}`}. platform users list shows all users.`,
  );
}

const isSameAddress = (left: string, right: string): boolean => lowerCase(left) === lowerCase(right);

export async function visitorOf(authenticator: SessionAuthenticator, context: Context<Env>): Promise<Visitor | null> {
  const result = await authenticator.find(context);
  return result.kind === "session" ? result.session : null;
}

export const isAdmin = ({ principal }: Visitor): boolean => principal.role === "admin";

export const teamNameOf = async (db: PlatformContext["db"], { principal }: Visitor): Promise<string> =>
  (await db.selectFrom("teams").select("name").where("id", "=", principal.teamId).executeTakeFirstOrThrow()).name;

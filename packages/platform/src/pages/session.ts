// Who looks at the pages: a user whose browser holds a session.
import type { Context } from "hono";
import { ApiProblem, type Env } from "../http/index.ts";
import type { Platform } from "../platform.ts";
import { createFirstUser, lowerCase, openAdministration, PrincipalProblem } from "../principals/index.ts";
import { makeLoginLink, openSessionDoor, type Session, type SessionDoor } from "../sessions/index.ts";

export type Visitor = Session;

/** Good for half an hour and for one browser. Nobody named is the first administrator, who is made on an empty platform. */
export async function loginLink(
  { db, vault }: Platform,
  baseUrl: string,
  email: string | null = null,
): Promise<string> {
  const users = await openAdministration(db, vault).listUsers(null);
  if (users.length === 0) return makeLoginLink(db, (await createFirstUser(db, vault, email)).id, baseUrl);
  const user = users.find((one) => (email === null ? one.role === "admin" : isSameAddress(one.email, email)));
  if (user) return makeLoginLink(db, user.id, baseUrl);
  throw new PrincipalProblem(`There is no ${email ?? "administrator"}. platform users list shows who there is.`);
}

const isSameAddress = (left: string, right: string): boolean => lowerCase(left) === lowerCase(right);

export async function visitorOf(door: SessionDoor, context: Context<Env>): Promise<Visitor | null> {
  const found = await door.find(context);
  return found.kind === "session" ? found.session : null;
}

export const doorOf = ({ sessions, settings }: Platform): SessionDoor => openSessionDoor(sessions, settings);

export const isAdmin = ({ principal }: Visitor): boolean => principal.role === "admin";

export function requireAdmin(visitor: Visitor): void {
  if (!isAdmin(visitor))
    throw new ApiProblem("team_admin_required", "This is for administrators of the team. Ask one.");
}

export const teamNameOf = async (db: Platform["db"], { principal }: Visitor): Promise<string> =>
  (await db.selectFrom("teams").select("name").where("id", "=", principal.teamId).executeTakeFirstOrThrow()).name;

// Who looks at the pages: a user whose browser holds a session.
import type { Context } from "hono";
import type { Env } from "../http/index.ts";
import type { Platform } from "../platform.ts";
import { makeLoginLink, openSessionDoor, type Session, type SessionDoor, useLoginLink } from "../sessions/index.ts";

export type Visitor = Session;

/** Good for half an hour and for one browser; whoever opens it is the first administrator. */
export async function loginLink({ db }: Platform, baseUrl: string): Promise<string> {
  const user = await db
    .selectFrom("users")
    .select("id")
    .where("role", "=", "admin")
    .where("removed_at", "is", null)
    .orderBy("id")
    .executeTakeFirstOrThrow();
  return makeLoginLink(db, user.id, baseUrl);
}

/** False where the link was used, is too old or was never given. */
export async function enterByLink({ db }: Platform, door: SessionDoor, context: Context<Env>): Promise<boolean> {
  const userId = await useLoginLink(db, context.req.query("token") ?? "");
  if (userId === null) return false;
  await door.enter(context, userId, "link");
  return true;
}

export async function visitorOf(door: SessionDoor, context: Context<Env>): Promise<Visitor | null> {
  const found = await door.find(context);
  return found.kind === "session" ? found.session : null;
}

export const doorOf = ({ sessions, settings }: Platform): SessionDoor => openSessionDoor(sessions, settings);

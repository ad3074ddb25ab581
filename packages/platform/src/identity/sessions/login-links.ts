// One-time links that log a browser in.
import type { Queries } from "../../foundation/index.ts";
import { hashSecret, isSecret, makeSecret } from "./secret.ts";

const linkMs = 30 * 60_000;

/** Valid for half an hour; its first use logs in as this user. */
export async function makeLoginLink(db: Queries, userId: number, baseUrl: string): Promise<string> {
  const { id, secret, hash } = makeSecret();
  const expires_at = new Date(Date.now() + linkMs);
  await db.insertInto("login_links").values({ id, user_id: userId, hash, expires_at }).execute();
  return `${baseUrl}/login?token=${secret}`;
}

/** The address of the user it would log in, without using the link; null if the link is not valid. */
export async function readLoginLink(db: Queries, secret: string): Promise<string | null> {
  if (!isSecret(secret)) return null;
  const found = await db
    .selectFrom("login_links")
    .innerJoin("users", "users.id", "login_links.user_id")
    .select("email")
    .where("users.removed_at", "is", null)
    .where("hash", "=", hashSecret(secret))
    .where("used_at", "is", null)
    .where("expires_at", ">", new Date())
    .executeTakeFirst();
  return found?.email ?? null;
}

/** Whom a link, an invitation or a provider logs in. */
export interface LoggedIn {
  userId: number;
  /** Joined by a link: no person has proved the address. */
  isUnproved: boolean;
}

/** Null if the link was used, has expired or never existed. Of two concurrent uses one succeeds. */
export async function useLoginLink(db: Queries, secret: string): Promise<LoggedIn | null> {
  if (!isSecret(secret)) return null;
  const now = new Date();
  const used = await db
    .updateTable("login_links")
    .from("users")
    .set({ used_at: now })
    .whereRef("users.id", "=", "login_links.user_id")
    .where("users.removed_at", "is", null)
    .where("hash", "=", hashSecret(secret))
    .where("used_at", "is", null)
    .where("expires_at", ">", now)
    .returning(["user_id", "users.joined_by_link"])
    .executeTakeFirst();
  return used ? { userId: used.user_id, isUnproved: used.joined_by_link } : null;
}

// Who looks at the pages: a user whose browser holds a sealed cookie, given for a link that only the server's owner sees.
import { timingSafeEqual } from "node:crypto";
import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { becomeActor, noteHappening } from "../db/index.ts";
import type { Env } from "../http/index.ts";
import type { Platform } from "../platform.ts";
import { type Principal, scopes } from "../principals/index.ts";
import type { DataKey } from "../vault/index.ts";

export interface Visitor {
  principal: Principal;
  /** Every form carries it: another site can send a browser's cookie here, and not know this. */
  formToken: string;
}

const cookieName = "platform_session";
const sessionMs = 12 * 3_600_000;
const linkMs = 30 * 60_000;

/** Good for half an hour; whoever opens it is the first administrator of the team. */
export async function loginLink(platform: Platform, baseUrl: string): Promise<string> {
  const user = await platform.db
    .selectFrom("users")
    .select(["id", "team_id"])
    .where("role", "=", "admin")
    .orderBy("id")
    .executeTakeFirstOrThrow();
  await noteHappening(platform.db, { action: "login_link.made", subject: String(user.id), data: {} });
  const key = await teamKey(platform, user.team_id);
  return `${baseUrl}/login?token=${seal(key, "login", { teamId: user.team_id, userId: user.id }, linkMs)}`;
}

/** False where the link is too old or was never given. */
export async function enter(platform: Platform, context: Context<Env>, token: string): Promise<boolean> {
  const pass = await openPass(platform, "login", token);
  if (!pass) return false;
  becomeActor(`user:${pass.userId}`);
  await noteHappening(platform.db, { action: "user.logged_in", subject: String(pass.userId), data: { by: "link" } });
  const key = await teamKey(platform, pass.teamId);
  setCookie(context, cookieName, seal(key, "session", pass, sessionMs), {
    httpOnly: true,
    sameSite: "Strict",
    path: "/",
    maxAge: sessionMs / 1000,
    secure: new URL(context.req.url).protocol === "https:",
  });
  return true;
}

export function leave(context: Context<Env>): void {
  setCookie(context, cookieName, "", { httpOnly: true, sameSite: "Strict", path: "/", maxAge: 0 });
}

export async function visitorOf(platform: Platform, context: Context<Env>): Promise<Visitor | null> {
  const cookie = getCookie(context, cookieName);
  const pass = cookie ? await openPass(platform, "session", cookie) : null;
  if (!cookie || !pass) return null;
  const user = await platform.db
    .selectFrom("users")
    .selectAll()
    .where("id", "=", pass.userId)
    .where("team_id", "=", pass.teamId)
    .executeTakeFirst();
  if (!user) return null;
  becomeActor(`user:${user.id}`);
  return {
    formToken: cookie.slice(-32),
    principal: {
      kind: "user",
      teamId: user.team_id,
      keyId: "session",
      keyName: "session",
      createdAt: user.created_at,
      scopes: [...scopes],
      userId: user.id,
      email: user.email,
      firstName: user.first_name,
      lastName: user.last_name,
      role: user.role,
    },
  };
}

/** Whether a form was one of ours, shown to this very visitor. */
export function isOwnForm({ formToken }: Visitor, sent: unknown): boolean {
  const expected = Buffer.from(formToken);
  const given = Buffer.from(typeof sent === "string" ? sent : "");
  return given.length === expected.length && timingSafeEqual(given, expected);
}

interface Pass {
  teamId: number;
  userId: number;
}

/** The team stands in front: its key opens the rest. */
const seal = (key: DataKey, purpose: string, pass: Pass, lifetimeMs: number): string =>
  `${pass.teamId}.${key.seal(JSON.stringify({ ...pass, until: Date.now() + lifetimeMs }), about(purpose)).toString("base64url")}`;

async function openPass(platform: Platform, purpose: string, token: string): Promise<Pass | null> {
  const [team = "", sealed = ""] = token.split(".");
  if (!/^\d{1,9}$/.test(team) || sealed === "") return null;
  try {
    const key = await teamKey(platform, Number(team));
    const { until, ...pass } = JSON.parse(key.openText(Buffer.from(sealed, "base64url"), about(purpose)));
    return until > Date.now() && pass.teamId === Number(team) ? pass : null;
  } catch {
    // Not sealed by us, or for something else.
    return null;
  }
}

const about = (purpose: string): string => `pass:${purpose}`;

async function teamKey({ db, vault }: Platform, teamId: number): Promise<DataKey> {
  const { data_key } = await db
    .selectFrom("teams")
    .select("data_key")
    .where("id", "=", teamId)
    .executeTakeFirstOrThrow();
  return vault.unwrap(data_key);
}

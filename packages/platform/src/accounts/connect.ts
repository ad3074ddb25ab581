// Connects a user's account: away to the host, back with a code, and only in the browser that went away.
import { createHash, randomBytes } from "node:crypto";
import type { Context, Hono } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { Env } from "../http/index.ts";
import { ConnectionRefused, type GithubAccounts } from "../scm/index.ts";
import type { DataKey } from "../vault/index.ts";
import { type AccountStore, keepAccount } from "./store.ts";

export interface Connecting {
  host: string;
  /** Sends the browser of this user to the host. */
  begin(context: Context<Env>, user: { teamId: number; userId: number }): Promise<Response>;
}

export interface ConnectingOptions {
  store: AccountStore;
  github: GithubAccounts;
  publicUrl(): string;
}

const callbackPath = "/accounts/github/callback";
const patienceSeconds = 600;

/** Over https no neighbour of our host can give it to a browser: who brings it is who was sent away. */
const cookieOf = (publicUrl: string) => {
  const secure = publicUrl.startsWith("https:");
  return { name: secure ? "__Host-platform_connect" : "platform_connect", options: { path: "/", secure } };
};

export const openConnecting = ({ store, github, publicUrl }: ConnectingOptions): Connecting => ({
  host: github.host,
  async begin(context, { teamId, userId }) {
    const secret = randomBytes(24).toString("base64url");
    const key = await teamKey(store, teamId);
    const state: State = { userId, browser: digest(secret), until: Date.now() + patienceSeconds * 1_000 };
    const { name, options } = cookieOf(publicUrl());
    // The host sends the browser back: a strict one would stay at home.
    setCookie(context, name, secret, { ...options, httpOnly: true, sameSite: "Lax", maxAge: patienceSeconds });
    const sealed = `${teamId}.${key.seal(JSON.stringify(state), about).toString("base64url")}`;
    return context.redirect(github.authorizeUrl({ state: sealed, redirectUrl: `${publicUrl()}${callbackPath}` }), 302);
  },
});

interface State {
  userId: number;
  browser: string;
  until: number;
}

const about = "connect an account";
const digest = (text: string): string => createHash("sha256").update(text).digest("base64url");

/** What it came to, for whoever makes a page of it. */
export type Connected = { kind: "connected"; login: string } | { kind: "refused"; reason: string };

export interface CallbackOptions extends ConnectingOptions {
  /** Whose session the browser has; null where it has none. */
  userIn(context: Context<Env>): Promise<number | null>;
}

/** The sealed state says who went away, the cookie that it was this browser. A session that is somebody else's is in the way. */
export function addAccountCallback(
  app: Hono<Env>,
  { store, github, publicUrl, userIn }: CallbackOptions,
  show: (context: Context<Env>, outcome: Connected) => Response,
): void {
  app.get(callbackPath, async (context) => {
    const { code = "", state = "" } = context.req.query();
    const cookie = cookieOf(publicUrl());
    const user = await readState(store, state, getCookie(context, cookie.name) ?? "");
    deleteCookie(context, cookie.name, cookie.options);
    const visitor = await userIn(context);
    const isAnother = visitor !== null && visitor !== user?.userId;
    if (user === null || isAnother || code === "")
      return show(context, { kind: "refused", reason: "This way was not begun here, or long ago. Begin again." });
    try {
      const signal = context.req.raw.signal;
      const tokens = await github.exchange(code, signal);
      const { id, login } = await github.whoIs(tokens.token, signal);
      await keepAccount(store, { userId: user.userId, host: github.host, accountId: id, login, tokens });
      return show(context, { kind: "connected", login });
    } catch (error) {
      if (!(error instanceof ConnectionRefused)) throw error;
      return show(context, { kind: "refused", reason: `${github.host} says: ${error.message}. Begin again.` });
    }
  });
}

async function readState(store: AccountStore, text: string, secret: string): Promise<State | null> {
  const [team = "", sealed = ""] = text.split(".");
  if (!/^\d{1,9}$/.test(team) || sealed === "" || secret === "") return null;
  try {
    const key = await teamKey(store, Number(team));
    const state: State = JSON.parse(key.openText(Buffer.from(sealed, "base64url"), about));
    const isGood = state.until > Date.now() && state.browser === digest(secret);
    return isGood && (await isThere(store, state.userId)) ? state : null;
  } catch {
    // Not sealed by us, or for something else.
    return null;
  }
}

/** Who was removed meanwhile leaves nothing behind. */
async function isThere({ db }: AccountStore, userId: number): Promise<boolean> {
  const user = db.selectFrom("users").select("id").where("id", "=", userId).where("removed_at", "is", null);
  return (await user.executeTakeFirst()) !== undefined;
}

async function teamKey({ db, vault }: AccountStore, teamId: number): Promise<DataKey> {
  const { data_key } = await db
    .selectFrom("teams")
    .select("data_key")
    .where("id", "=", teamId)
    .executeTakeFirstOrThrow();
  return vault.unwrap(data_key);
}

// Connects a user's account through OAuth: redirects to the host, and accepts its code only from the same browser.
import { createHash, randomBytes } from "node:crypto";
import type { Context, Hono } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { DataKey, Env } from "../../foundation/index.ts";
import { ConnectionRefused, type GithubAccounts } from "../scm/index.ts";
import { type AccountStore, saveAccount } from "./store.ts";

export interface AccountConnector {
  host: string;
  /** Redirects this user's browser to the host. */
  begin(context: Context<Env>, user: { teamId: number; userId: number }): Promise<Response>;
}

export interface ConnectorOptions {
  store: AccountStore;
  github: GithubAccounts;
  publicUrl(): string;
}

/** Of the page that begins to connect an account. */
export const connectPath = "/accounts/github/connect";
const callbackPath = "/accounts/github/callback";
const stateLifetimeSeconds = 600;

/** Over https the `__Host-` prefix keeps sibling hosts from setting the cookie, so it identifies the browser that was redirected. */
const cookieOf = (publicUrl: string) => {
  const secure = publicUrl.startsWith("https:");
  return { name: secure ? "__Host-platform_connect" : "platform_connect", options: { path: "/", secure } };
};

export const openAccountConnector = ({ store, github, publicUrl }: ConnectorOptions): AccountConnector => ({
  host: github.host,
  async begin(context, { teamId, userId }) {
    const secret = randomBytes(24).toString("base64url");
    const key = await teamKey(store, teamId);
    const state: State = { userId, browser: digest(secret), until: Date.now() + stateLifetimeSeconds * 1_000 };
    const { name, options } = cookieOf(publicUrl());
    // The host redirects the browser back, and a cookie with SameSite=Strict would not be sent then.
    setCookie(context, name, secret, { ...options, httpOnly: true, sameSite: "Lax", maxAge: stateLifetimeSeconds });
    const sealed = `${teamId}.${key.seal(JSON.stringify(state), sealContext).toString("base64url")}`;
    return context.redirect(github.authorizeUrl({ state: sealed, redirectUrl: `${publicUrl()}${callbackPath}` }), 302);
  },
});

interface State {
  userId: number;
  browser: string;
  until: number;
}

const sealContext = "connect an account";
const digest = (text: string): string => createHash("sha256").update(text).digest("base64url");

/** The outcome, for the page that shows it. */
export type ConnectOutcome = { kind: "connected"; login: string } | { kind: "refused"; reason: string };

export interface CallbackOptions extends ConnectorOptions {
  /** The user of the browser's session; null without a session. */
  userIn(context: Context<Env>): Promise<number | null>;
}

/** The sealed state identifies the user, the cookie the browser. Only a session of this user connects the account. */
export function addAccountCallback(
  app: Hono<Env>,
  { store, github, publicUrl, userIn }: CallbackOptions,
  show: (context: Context<Env>, outcome: ConnectOutcome) => Response,
): void {
  app.get(callbackPath, async (context) => {
    const { code = "", state = "" } = context.req.query();
    const cookie = cookieOf(publicUrl());
    const user = await readState(store, state, getCookie(context, cookie.name) ?? "");
    deleteCookie(context, cookie.name, cookie.options);
    const visitor = await userIn(context);
    // Also without a session: the one that began this may have ended because the owner of its address proved it.
    if (user === null || visitor !== user.userId || code === "")
      return show(context, {
        kind: "refused",
        reason: "This connection was not started in this browser, or has expired. Start again.",
      });
    try {
      const signal = context.req.raw.signal;
      const tokens = await github.exchange(code, signal);
      const { id, login } = await github.readUser(tokens.token, signal);
      await saveAccount(store, { userId: user.userId, host: github.host, accountId: id, login, tokens });
      return show(context, { kind: "connected", login });
    } catch (error) {
      if (!(error instanceof ConnectionRefused)) throw error;
      return show(context, { kind: "refused", reason: `${github.host} reported: ${error.message}. Start again.` });
    }
  });
}

async function readState(store: AccountStore, text: string, secret: string): Promise<State | null> {
  const [team = "", sealed = ""] = text.split(".");
  if (!/^\d{1,9}$/.test(team) || sealed === "" || secret === "") return null;
  try {
    const key = await teamKey(store, Number(team));
    const state: State = JSON.parse(key.openText(Buffer.from(sealed, "base64url"), sealContext));
    const isValid = state.until > Date.now() && state.browser === digest(secret);
    return isValid && (await userExists(store, state.userId)) ? state : null;
  } catch {
    // Not sealed by this platform, or for another purpose.
    return null;
  }
}

/** False if the user was removed meanwhile: nothing is stored for them. */
async function userExists({ db }: AccountStore, userId: number): Promise<boolean> {
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

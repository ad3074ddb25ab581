// All kinds of senders: keys of every kind and state, and browsers with a session in every state.

import type { OutgoingHttpHeaders } from "node:http";
import { type ServedPlatform, sendRequest } from "@agentcli/testkit/platform";
import { everyday, type Scope, type Sender } from "./auth-facts.ts";

export interface RequestSender extends Sender {
  /** Owner of the agents it requests: a user, or a service account. */
  asksFor: "user" | "account";
  /** For a request that needs this scope. */
  headers(scope: Scope | null): OutgoingHttpHeaders;
}

export interface OwnerKeys {
  user: string;
  account: string;
  stranger: string;
}

const owner = "owner@localhost";
const mate = "mate@localhost";
const asAdmin: Scope[] = [...everyday, "admin"];

export async function createKeys({ harness }: ServedPlatform): Promise<OwnerKeys> {
  // The first user of a team is its administrator.
  await harness.key();
  return {
    user: await harness.key("--user", owner),
    account: await harness.key("--service-account"),
    stranger: await harness.key("--team", "strangers"),
  };
}

export async function createSenders(platform: ServedPlatform, keys: OwnerKeys): Promise<Record<string, RequestSender>> {
  return { ...(await keySenders(platform, keys)), ...(await browserSenders(platform, keys)) };
}

async function keySenders({ harness }: ServedPlatform, keys: OwnerKeys): Promise<Record<string, RequestSender>> {
  const unknown = { is: null, scopes: [], asksFor: "user" } as const;
  const [expired, revoked] = [await harness.key("--user", owner), await harness.key("--user", owner)];
  const idOf = (key: string) => key.split("_")[1] ?? "";
  await harness.database.query("update api_keys set expires_at = to_timestamp(0) where id = $1", [idOf(expired)]);
  await harness.run(["keys", "revoke", idOf(revoked)]);
  const lacking = new Map<Scope | null, string>();
  for (const scope of everyday)
    lacking.set(scope, await harness.key("--user", owner, "--scopes", everyday.filter((one) => one !== scope).join()));
  const wrong = `${keys.user.slice(0, -1)}${keys.user.endsWith("A") ? "B" : "A"}`;
  const [admin, ofMate, bot] = [
    await harness.key(),
    await harness.key("--user", mate),
    (await harness.run(["keys", "create", "--name", "bot", "--service-account"])).stdout.trim(),
  ];
  return {
    "no key": { ...unknown, headers: () => ({}) },
    "wrong key": { ...unknown, headers: () => bearer(wrong) },
    "expired key": { ...unknown, headers: () => bearer(expired) },
    "revoked key": { ...unknown, headers: () => bearer(revoked) },
    "other team": { is: "of another team", scopes: asAdmin, asksFor: "user", headers: () => bearer(keys.stranger) },
    owner: { is: "owner", scopes: everyday, asksFor: "user", headers: () => bearer(keys.user) },
    "owner, Basic": { is: "owner", scopes: everyday, asksFor: "user", headers: () => basic(keys.user) },
    "owner, not the scope": {
      is: "owner",
      scopes: [],
      asksFor: "user",
      headers: (scope) => bearer(lacking.get(scope) ?? keys.user),
    },
    member: { is: "teammate", scopes: everyday, asksFor: "user", headers: () => bearer(ofMate) },
    admin: { is: "admin", scopes: asAdmin, asksFor: "user", headers: () => bearer(admin) },
    "service account": {
      is: "teammate",
      scopes: everyday,
      asksFor: "user",
      isAccount: true,
      headers: () => bearer(bot),
    },
    "service account, owner": {
      is: "owner",
      scopes: everyday,
      asksFor: "account",
      isAccount: true,
      headers: () => bearer(keys.account),
    },
  };
}

async function browserSenders(platform: ServedPlatform, keys: OwnerKeys): Promise<Record<string, RequestSender>> {
  const own = await logIn(platform, owner);
  const ended = await logIn(platform, owner);
  await leave(platform, ended);
  const mates = await logIn(platform, mate);
  const session = { is: "owner", scopes: everyday, asksFor: "user", isSession: true } as const;
  const { cookie, token } = own;
  const unknown = { ...session, is: null } as const;
  return {
    cookie: { ...session, headers: () => ({ cookie, "x-csrf-token": token }) },
    "cookie, no CSRF token": { ...session, isForgeable: true, headers: () => ({ cookie }) },
    "cookie, wrong CSRF token": {
      ...session,
      isForgeable: true,
      headers: () => ({ cookie, "x-csrf-token": mates.token }),
    },
    "cookie, another site": {
      ...session,
      isForgeable: true,
      headers: () => ({ cookie, "x-csrf-token": token, origin: "https://elsewhere.example" }),
    },
    "cookie, session ended": { ...unknown, headers: () => ({ cookie: ended.cookie, "x-csrf-token": ended.token }) },
    "cookie, wrong key": { ...unknown, headers: () => ({ cookie, "x-csrf-token": token, ...bearer(`${keys.user}x`) }) },
    "cookie of a member": {
      ...session,
      is: "teammate",
      headers: () => ({ cookie: mates.cookie, "x-csrf-token": mates.token }),
    },
  };
}

interface LoggedIn {
  cookie: string;
  /** The CSRF token in the forms of its pages. */
  token: string;
}

async function logIn({ harness, server }: ServedPlatform, email: string): Promise<LoggedIn> {
  const link = await harness.output("login-link", email);
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const body = new URL(link.trim()).search.slice(1);
  const entered = await sendRequest(server.url, { method: "POST", path: "/login", headers, body });
  const cookie = entered.headers["set-cookie"]?.[0]?.split(";")[0] ?? fail("no cookie");
  const { text } = await sendRequest(server.url, { method: "GET", path: "/agents", headers: { cookie } });
  return { cookie, token: /name="token" value="([^"]+)"/.exec(text)?.[1] ?? fail("no form token") };
}

async function leave({ server }: ServedPlatform, { cookie, token }: LoggedIn): Promise<void> {
  const headers = { cookie, "content-type": "application/x-www-form-urlencoded" };
  const { status } = await sendRequest(server.url, {
    method: "POST",
    path: "/logout",
    headers,
    body: `token=${token}`,
  });
  if (status !== 303) fail(`logging out answered ${status}`);
}

const bearer = (key: string): OutgoingHttpHeaders => ({ authorization: `Bearer ${key}` });
const basic = (key: string): OutgoingHttpHeaders => ({
  authorization: `Basic ${Buffer.from(`${key}:`).toString("base64")}`,
});

function fail(message: string): never {
  throw new Error(message);
}

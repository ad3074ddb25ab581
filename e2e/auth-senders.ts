// Whoever could send a request: keys of every kind and condition, and browsers with a session in every condition.
import type { OutgoingHttpHeaders } from "node:http";
import { makeLoginLink } from "../packages/platform/src/sessions/index.ts";
import { everyday, type Scope, type Sender } from "./auth-facts.ts";
import { send } from "./platform-client.ts";
import type { ScriptedPlatform } from "./platform-scripted.ts";

export interface MadeSender extends Sender {
  /** Whose agents it asks for: those of a user, or of a service account. */
  asksFor: "user" | "account";
  /** Of a request that needs this scope. */
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

export async function makeKeys({ desk }: ScriptedPlatform): Promise<OwnerKeys> {
  // The first user of a team is its administrator.
  await desk.key();
  return {
    user: await desk.key("--user", owner),
    account: await desk.key("--service-account"),
    stranger: await desk.key("--team", "strangers"),
  };
}

export async function makeSenders(platform: ScriptedPlatform, keys: OwnerKeys): Promise<Record<string, MadeSender>> {
  return { ...(await keySenders(platform, keys)), ...(await browserSenders(platform, keys)) };
}

async function keySenders({ desk }: ScriptedPlatform, keys: OwnerKeys): Promise<Record<string, MadeSender>> {
  const db = desk.database?.db ?? fail("no database");
  const unknown = { is: null, scopes: [], asksFor: "user" } as const;
  const [expired, revoked] = [await desk.key("--user", owner), await desk.key("--user", owner)];
  const idOf = (key: string) => key.split("_")[1] ?? "";
  await db
    .updateTable("api_keys")
    .set({ expires_at: new Date(0) })
    .where("id", "=", idOf(expired))
    .execute();
  await desk.run(["keys", "revoke", idOf(revoked)]);
  const lacking = new Map<Scope | null, string>();
  for (const scope of everyday)
    lacking.set(scope, await desk.key("--user", owner, "--scopes", everyday.filter((one) => one !== scope).join()));
  const wrong = `${keys.user.slice(0, -1)}${keys.user.endsWith("A") ? "B" : "A"}`;
  const [admin, ofMate, bot] = [
    await desk.key(),
    await desk.key("--user", mate),
    (await desk.run(["keys", "create", "--name", "bot", "--service-account"])).stdout.trim(),
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
    "service account": { is: "teammate", scopes: everyday, asksFor: "user", headers: () => bearer(bot) },
    "service account, owner": {
      is: "owner",
      scopes: everyday,
      asksFor: "account",
      headers: () => bearer(keys.account),
    },
  };
}

async function browserSenders(platform: ScriptedPlatform, keys: OwnerKeys): Promise<Record<string, MadeSender>> {
  const own = await logIn(platform, owner);
  const ended = await logIn(platform, owner);
  await leave(platform, ended);
  const mates = await logIn(platform, mate);
  const session = { is: "owner", scopes: everyday, asksFor: "user" } as const;
  const { cookie, token } = own;
  const nobody = { ...session, is: null } as const;
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
    "cookie, session ended": { ...nobody, headers: () => ({ cookie: ended.cookie, "x-csrf-token": ended.token }) },
    "cookie, wrong key": { ...nobody, headers: () => ({ cookie, "x-csrf-token": token, ...bearer(`${keys.user}x`) }) },
    "cookie of a member": {
      ...session,
      is: "teammate",
      headers: () => ({ cookie: mates.cookie, "x-csrf-token": mates.token }),
    },
  };
}

interface LoggedIn {
  cookie: string;
  /** That the forms of its pages carry. */
  token: string;
}

async function logIn({ desk, server }: ScriptedPlatform, email: string): Promise<LoggedIn> {
  const db = desk.database?.db ?? fail("no database");
  const user = await db.selectFrom("users").select("id").where("email", "=", email).executeTakeFirstOrThrow();
  const link = await makeLoginLink(db, user.id, "");
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const body = link.replace(/.*\?/, "");
  const entered = await send(server.url, { method: "POST", path: "/login", headers, body });
  const cookie = entered.headers["set-cookie"]?.[0]?.split(";")[0] ?? fail("no cookie");
  const { text } = await send(server.url, { method: "GET", path: "/agents", headers: { cookie } });
  return { cookie, token: /name="token" value="([^"]+)"/.exec(text)?.[1] ?? fail("no form token") };
}

async function leave({ server }: ScriptedPlatform, { cookie, token }: LoggedIn): Promise<void> {
  const headers = { cookie, "content-type": "application/x-www-form-urlencoded" };
  const { status } = await send(server.url, { method: "POST", path: "/logout", headers, body: `token=${token}` });
  if (status !== 303) fail(`logging out answered ${status}`);
}

const bearer = (key: string): OutgoingHttpHeaders => ({ authorization: `Bearer ${key}` });
const basic = (key: string): OutgoingHttpHeaders => ({
  authorization: `Basic ${Buffer.from(`${key}:`).toString("base64")}`,
});

function fail(message: string): never {
  throw new Error(message);
}

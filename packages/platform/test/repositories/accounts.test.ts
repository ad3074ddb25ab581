// Users connect their GitHub accounts, and agents that work for them have no more access than the users have.
import { type FakeGithub, startGithub } from "@agentcli/testkit/github";
import { Hono } from "hono";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Env } from "../../src/foundation/http/index.ts";
import { openAdministration } from "../../src/identity/principals/index.ts";
import { loginLink } from "../../src/pages/index.ts";
import { openAccountConnector, openUserAccess } from "../../src/repositories/accounts/index.ts";
import { findAccount, removeAccount, saveAccount, writeTokens } from "../../src/repositories/accounts/store.ts";
import { freshToken } from "../../src/repositories/accounts/tokens.ts";
import { ConnectionRefused, GithubRefusal, openGithub } from "../../src/repositories/scm/index.ts";
import { serve } from "../../src/serve.ts";
import { type TestServer, testServer } from "../harness/platform.ts";
import { never } from "./git-harness.ts";
import { githubSettings } from "./github-settings.ts";

let fake: FakeGithub;
let server: TestServer;
let key: string;
let session: string;

beforeAll(async () => {
  fake = await startGithub();
  const client = { id: fake.app.client.id, secretVariable: "GITHUB_CLIENT_SECRET" };
  const github = { ...(await githubSettings(fake)), client };
  server = await testServer({
    roles: ["api"],
    allowPrivate: ["127.0.0.0/8"],
    sourceHosts: { blocked: [], protected: [], github },
    variables: { PATH: process.env.PATH, GITHUB_CLIENT_SECRET: fake.app.client.secret },
  });
  key = await server.key();
  const { search } = new URL(await loginLink(server.platform, server.url));
  const body = new URLSearchParams(search);
  session = cookieOf(await fetch(`${server.url}/login`, { method: "POST", redirect: "manual", body }));
});
afterAll(async () => {
  await server.close();
  await fake.close();
});

const visit = (url: string, cookie: string) => fetch(url, { redirect: "manual", headers: { cookie } });
const cookieOf = (answer: Response): string => (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
const locationOf = (answer: Response): string => answer.headers.get("location") ?? "";

/** The OAuth redirects to the host and back; the test chooses what the browser sends in the last step. */
async function startConnecting(): Promise<{ back: string; cookie: string }> {
  const redirect = await visit(`${server.url}/accounts/github/connect`, session);
  expect(redirect.headers.get("set-cookie")).toMatch(/HttpOnly; SameSite=Lax/);
  return { back: locationOf(await visit(locationOf(redirect), "")), cookie: cookieOf(redirect) };
}

const accounts = () => server.platform.db.selectFrom("source_accounts").selectAll().execute();

const create = (repository: string, by = key) =>
  server.call(by, "POST", "/v1/agents", { prompt: { text: "x" }, repos: [{ url: `${fake.url}/${repository}` }] });

const refused = (words: string) => ({
  status: 400,
  body: { error: { code: "repository_access", message: expect.stringContaining(words) } },
});

test("the error for a user without an account says where to connect one", async () => {
  await fake.addRepository("acme/own", { collaborators: ["ada"] });
  expect(await create("acme/own")).toMatchObject({
    status: 400,
    body: {
      error: {
        code: "integration_not_connected",
        message: expect.stringContaining("connect your account"),
        helpUrl: `${server.url}/accounts`,
        provider: "github",
      },
    },
  });
});

test("only the browser that started can finish the connection, and only once", async () => {
  const { back, cookie } = await startConnecting();
  const browser = `${cookie}; ${session}`;
  // A session that ended meanwhile, because the owner of its address has proved it, connects nothing.
  for (const other of ["", session, cookie, `${cookie}x; ${session}`])
    expect((await visit(back, other)).status).toBe(400);
  expect((await visit(`${server.url}/accounts/github/callback?code=x&state=1.x`, browser)).status).toBe(400);
  expect(await accounts()).toEqual([]);
  const connected = await visit(back, browser);
  expect([connected.status, await connected.text()]).toEqual([200, expect.stringContaining("ada is connected")]);
  expect(await accounts()).toMatchObject([{ host: new URL(fake.url).host, login: "ada" }]);
  const again = await visit(back, browser);
  expect([again.status, await again.text()]).toEqual([400, expect.stringContaining("incorrect or expired")]);
});

test("an account is not connected for one user in another user's browser", async () => {
  const { db, sessions, vault } = server.platform;
  await openAdministration(db, vault).createUser({ email: "bob@x", team: "default", role: "member" });
  const { id } = await openAdministration(db, vault).findUser({ email: "bob@x" });
  const { back, cookie } = await startConnecting();
  const before = await accounts();
  const other = `${cookie}; platform_session=${await sessions.begin(id, "link")}`;
  expect((await visit(back, other)).status).toBe(400);
  expect(await accounts()).toEqual(before);
  const removed = (at: Date | null) => db.updateTable("users").set({ removed_at: at }).where("email", "!=", "bob@x");
  await removed(new Date()).execute();
  expect((await visit(back, `${cookie}; ${session}`)).status).toBe(400);
  await removed(null).execute();
  expect((await visit(back, `${cookie}; ${session}`)).status).toBe(200);
  await db.deleteFrom("users").where("email", "=", "bob@x").execute();
});

test("over https no sibling domain can set the cookie of the callback", async () => {
  const { db, settings } = server.platform;
  const github = settings.sourceHosts.github ?? expect.fail("no settings");
  const options = { store: server.platform, github: openGithub(github, settings.variables).accounts ?? expect.fail() };
  const connector = openAccountConnector({ ...options, publicUrl: () => "https://platform.example" });
  const { id: userId, team_id: teamId } = await db.selectFrom("users").selectAll().limit(1).executeTakeFirstOrThrow();
  const app = new Hono<Env>().get("/", (context) => connector.begin(context, { teamId, userId }));
  expect((await app.request("/")).headers.get("set-cookie")).toMatch(/^__Host-platform_connect=.*Path=\/;.*Secure/);
});

test("connecting requires a login", async () => {
  expect((await visit(`${server.url}/accounts/github/connect`, "")).status).toBe(401);
  expect((await visit(`${server.url}/accounts`, "")).status).toBe(401);
});

test("user tokens are sealed", async () => {
  const [row] = await accounts();
  const secrets = fake.grants.map(({ token }) => token);
  expect(secrets.length).toBeGreaterThan(0);
  for (const secret of secrets) expect(row?.token?.includes(secret)).toBe(false);
});

test("an agent can access only what its user may push to", async () => {
  await fake.addRepository("acme/foreign", { collaborators: ["bob"] });
  expect((await create("acme/own")).status).toBe(200);
  expect(await create("acme/foreign")).toMatchObject(refused("your account ada"));
  expect(await create("acme/none")).toMatchObject(refused("your account ada"));
  const robot = await server.key({ owner: { kind: "service_account", name: "ci" } });
  expect((await create("acme/foreign", robot)).status).toBe(200);
  expect(fake.violations).toEqual([]);
});

test("a run fails if its user has lost access to the repository", async () => {
  const { platform } = server;
  await platform.db.deleteFrom("agents").execute();
  const shop = await fake.addRepository("acme/left", { collaborators: ["ada"] });
  const { body } = await create("acme/left");
  shop.collaborators.length = 0;
  const settings = { ...platform.settings, roles: ["api" as const, "runner" as const] };
  const runner = await serve({ ...platform, settings, close: async () => {} });
  const { agent, run } = body as { agent: { id: string }; run: { id: string } };
  const read = async () => (await server.call(key, "GET", `/v1/agents/${agent.id}/runs/${run.id}`)).body;
  await expect
    .poll(read)
    .toMatchObject({ status: "ERROR", error: { code: "repository_access", message: expect.stringContaining("ada") } });
  await runner.stop();
});

test("access is denied while the host is unreachable", async () => {
  for (let count = 0; count < 3; count += 1)
    fake.planResponse({ operation: "repos/get", response: { status: 503, body: { message: "Unavailable" } } });
  expect(await create("acme/own")).toMatchObject(refused("could not confirm"));
});

/** The account of the only user, with a token that has just expired. */
async function expiredAccount() {
  const { db, vault, settings } = server.platform;
  const user = await db.selectFrom("users").select("id").executeTakeFirstOrThrow();
  const store = { db, vault };
  const account = await findAccount(store, { userId: user.id, host: new URL(fake.url).host });
  if (account === undefined || settings.sourceHosts.github === null) throw new Error("no account");
  await writeTokens(store, account, { ...account.tokens, expiresAt: Date.now() });
  const { accounts: github } = openGithub(settings.sourceHosts.github, settings.variables);
  if (github === null) throw new Error("accounts cannot be connected");
  return {
    store,
    github,
    account,
    refusal: (url: string) => openUserAccess(store, github).refusal(user.id, url, never()),
  };
}

test("an expired token is refreshed once, however many servers need it at the same time", async () => {
  const { store, account, refusal } = await expiredAccount();
  const before = fake.grants.length;
  const answers = await Promise.all(Array.from({ length: 6 }, () => refusal(`${fake.url}/acme/own`)));
  expect(answers).toEqual(Array(6).fill(undefined));
  expect(fake.grants).toHaveLength(before + 1);
  expect((await findAccount(store, account))?.tokens.token).toBe(fake.grants.at(-1)?.token);
});

test("a refreshed token is not lost if the database is unavailable at that moment", async () => {
  const { store, github, account } = await expiredAccount();
  const breaking: typeof github = {
    ...github,
    async refresh(...about) {
      const tokens = await github.refresh(...about);
      await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and state = 'idle in transaction'
      `.execute(store.db);
      return tokens;
    },
  };
  const token = await freshToken({
    store,
    github: breaking,
    account: { ...account, tokens: { ...account.tokens, expiresAt: 0 } },
  });
  expect((await findAccount(store, account))?.tokens.token).toBe(token);
  expect(fake.grants.at(-1)).toMatchObject({ token, isRevoked: false });
});

test("an account disconnected during a token refresh stays disconnected", async () => {
  const { store, github, account } = await expiredAccount();
  const { userId, host } = account;
  let removal: Promise<boolean> | undefined;
  const slow: typeof github = {
    ...github,
    async refresh(...about) {
      removal = removeAccount(store.db, { userId, host });
      return github.refresh(...about);
    },
  };
  const ended = { ...account, tokens: { ...account.tokens, expiresAt: 0 } };
  const token = await freshToken({ store, github: slow, account: ended });
  await removal;
  expect(await findAccount(store, account)).toBeUndefined();
  await expect(freshToken({ store, github, account: ended })).rejects.toThrow(ConnectionRefused);
  await saveAccount(store, { ...account, tokens: { token, expiresAt: null, refreshToken: null } });
});

test("a revoked token asks the user to reconnect", async () => {
  const { refusal } = await expiredAccount();
  for (const grant of fake.grants) grant.isRevoked = true;
  const asked = { code: "integration_not_connected", reason: expect.stringContaining("connect your account") };
  expect(await refusal(`${fake.url}/acme/own`)).toEqual(asked);
  expect(await refusal("https://elsewhere.example/o/r")).toBeUndefined();
});

test("a wrong client secret or a failing host does not ask the user to reconnect", async () => {
  const { store, account, github } = await expiredAccount();
  const settings = server.platform.settings.sourceHosts.github as NonNullable<Parameters<typeof openGithub>[0]>;
  const { accounts: wrong } = openGithub(settings, { GITHUB_CLIENT_SECRET: "wrong" });
  const ended = { ...account, tokens: { token: "x", expiresAt: 0, refreshToken: "y" } };
  await writeTokens(store, account, ended.tokens);
  await expect(freshToken({ store, github: wrong ?? github, account: ended })).rejects.toThrow(GithubRefusal);
  const unreachable = openGithub({ ...settings, baseUrl: "http://127.0.0.1:9/api/v3" }, {}).accounts ?? github;
  await expect(freshToken({ store, github: unreachable, account: ended })).rejects.toThrow(GithubRefusal);
  expect((await findAccount(store, account))?.tokens).toEqual(ended.tokens);
});

test("a disconnected account is deleted", async () => {
  const listed = await fetch(`${server.url}/v1/me/accounts`, { headers: { cookie: session } });
  const { host } = new URL(fake.url);
  expect(await listed.json()).toMatchObject({
    items: [{ host, login: "ada" }],
    connectable: [{ host, path: "/accounts/github/connect" }],
  });
  const shown = await (await visit(`${server.url}/accounts`, session)).text();
  const [, token = ""] = /name="token" value="([^"]+)"/.exec(shown) ?? [];
  const disconnect = async () => {
    const headers = { cookie: session, "x-csrf-token": token };
    return (await fetch(`${server.url}/v1/me/accounts/${host}`, { method: "DELETE", headers })).status;
  };
  expect([await disconnect(), await disconnect()]).toEqual([200, 404]);
  const { rows } = await sql`select from source_accounts`.execute(server.platform.db);
  expect(rows).toEqual([]);
});

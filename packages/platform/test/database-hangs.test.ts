// A database that hangs, neither dead nor answering: requests end in time, and all goes on when it answers again.
import { workerPath } from "@agentcli/protocol/worker-link";
import { sendRequest } from "@agentcli/testkit/platform";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { loginLink } from "../src/pages/index.ts";
import { logIn, openBrowser } from "./harness/browser.ts";
import { freshDatabase } from "./harness/database.ts";
import { type DatabaseProxy, openDatabaseProxy } from "./harness/database-proxy.ts";
import { type TestServer, testServer } from "./harness/platform.ts";

interface Setting {
  proxy: DatabaseProxy;
  server: TestServer;
  key: string;
  cookie: string;
  /** Of a login link that was not used yet. */
  token: string;
}

async function openServer(): Promise<Setting> {
  const database = await freshDatabase();
  const proxy = await openDatabaseProxy(database.url);
  const server = await testServer({ databaseUrl: proxy.url, queryTimeoutMs: 5_000 });
  onTestFinished(async () => {
    proxy.resume();
    await server.close();
    proxy.close();
    await database.close();
  });
  const browser = openBrowser(server.url);
  await logIn(browser, await loginLink(server.platform, server.url));
  const token = new URL(await loginLink(server.platform, server.url)).searchParams.get("token") ?? "";
  return { proxy, server, key: await server.key(), cookie: browser.cookie(), token };
}

const agent = "bc-00000000-0000-4000-8000-000000000000";
const run = "run-00000000-0000-4000-8000-000000000000";

interface OpenApi {
  paths: Record<string, Record<string, { requestBody?: object }>>;
}

/** Every operation of v0 and v1, with a body that is valid as far as the database is concerned. */
async function operations({ server, key }: Setting): Promise<Sent[]> {
  const { body } = await server.call(key, "GET", "/openapi.json");
  return Object.entries((body as OpenApi).paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({
      method: method.toUpperCase(),
      path: path
        .replace("{id}", agent)
        .replace("{runId}", run)
        .replace(/\{\w+\}/g, "1"),
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(method === "post" && { body: JSON.stringify({ prompt: { text: "do it" } }) }),
    })),
  );
}

interface Sent {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** As a worker asks for its connection. */
const upgrade = {
  ...{ connection: "Upgrade", upgrade: "websocket" },
  ...{ "sec-websocket-version": "13", "sec-websocket-key": Buffer.alloc(16).toString("base64") },
};

function others({ key, cookie, token }: Setting): Sent[] {
  const git = { authorization: `Basic ${Buffer.from(`x:${key}`).toString("base64")}` };
  const page = { accept: "text/html", cookie };
  const form = { ...page, "content-type": "application/x-www-form-urlencoded" };
  return [
    { method: "GET", path: "/readyz", headers: {} },
    { method: "GET", path: "/git/some.git/info/refs?service=git-upload-pack", headers: git },
    { method: "POST", path: "/git/some.git/git-upload-pack", headers: git, body: "0000" },
    { method: "POST", path: "/git/some.git/git-receive-pack", headers: git, body: "0000" },
    { method: "GET", path: `/artifacts/${agent}/token`, headers: {} },
    ...["/agents", "/agents/new", `/agents/${agent}`, "/repositories", "/keys", "/members", "/settings"].map(
      (path) => ({ method: "GET", path, headers: page }),
    ),
    { method: "GET", path: `/v1/agents/${agent}/runs/${run}/stream`, headers: page },
    { method: "POST", path: "/logout", headers: form, body: "token=x" },
    { method: "GET", path: `/login?token=${token}`, headers: { accept: "text/html" } },
    { method: "POST", path: "/login", headers: { ...form, cookie: "" }, body: `token=${token}` },
    { method: "GET", path: `/join?token=${token}`, headers: { accept: "text/html" } },
    { method: "GET", path: "/no/such/page", headers: page },
    { method: "GET", path: workerPath, headers: { ...upgrade, authorization: `Bearer ${key}` } },
    {
      method: "POST",
      path: "/automations/webhook/00000000-0000-4000-8000-000000000000",
      headers: { authorization: `Bearer pla_000000000000_${"a".repeat(64)}`, "content-type": "application/json" },
      body: "{}",
    },
  ];
}

test("while the database hangs, every kind of request is answered 503 with Retry-After, and health stays ok", async () => {
  const setting = await openServer();
  const { proxy, server } = setting;
  const requests = [...(await operations(setting)), ...others(setting)];
  proxy.pause();
  const answers = await Promise.all(
    requests.map(async (request) => {
      const { status, headers, text } = await sendRequest(server.url, { ...request, timeoutMs: 120_000 });
      return { name: `${request.method} ${request.path}`, status, retryAfter: headers["retry-after"], text };
    }),
  );
  expect(answers.filter(({ status, retryAfter }) => status !== 503 || retryAfter === undefined)).toEqual([]);
  expect(answers.find(({ name }) => name === "GET /agents")?.text).toContain("<h1>Not available right now</h1>");
  expect(await sendRequest(server.url, { method: "GET", path: "/healthz" })).toMatchObject({ status: 200 });
  expect(await sendRequest(server.url, { method: "GET", path: "/metrics" })).toMatchObject({ status: 200 });
  proxy.resume();
  await expect.poll(async () => (await sendRequest(server.url, { method: "GET", path: "/readyz" })).status).toBe(200);
  const created = await server.call(setting.key, "POST", "/v1/agents", { prompt: { text: "Say hello." } });
  expect(created.status).toBe(200);
});

test("a statement that waits too long for a lock is cancelled, and its request is answered 503", async () => {
  const { server, key } = await openServer();
  await server.platform.db.transaction().execute(async (tx) => {
    await sql`lock table agents in access exclusive mode`.execute(tx);
    const { status, headers } = await server.call(key, "GET", "/v1/agents");
    expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
    // Background work may wait: it has leases instead of a deadline.
    const { rows } = await sql`select query from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%from "agents"%'`.execute(tx);
    expect(rows).toEqual([]);
  });
  expect(await server.call(key, "GET", "/v1/agents")).toMatchObject({ status: 200 });
});

// Limits of requests: one mechanism for every way in, each with its own form of a refusal.
import { createHmac, randomUUID } from "node:crypto";
import { connect, type Socket } from "node:net";
import { workerPath } from "@agentcli/protocol/worker-link";
import { sendRequest } from "@agentcli/testkit/platform";
import { afterEach, expect, onTestFinished, test } from "vitest";
import type { Settings } from "../../src/foundation/config/index.ts";
import { rateLimiter } from "../../src/foundation/http/rate-limit.ts";
import { makeLoginLink } from "../../src/identity/index.ts";
import { openGitHost } from "../../src/repositories/githost/index.ts";
import { logIn, openBrowser } from "../harness/browser.ts";
import { type TestServer, testServer } from "../harness/platform.ts";
import { noRateLimits } from "../harness/settings.ts";
import { testSigner } from "../harness/signer.ts";

async function limitedServer(limits: Partial<Settings["rateLimits"]>): Promise<TestServer> {
  const server = await testServer({ roles: ["api"], rateLimits: { ...noRateLimits, ...limits } });
  onTestFinished(server.close);
  return server;
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const wrongKey = `plt_000000000000_${"a".repeat(43)}`;
const manyPerMinute = 100_000;

/** The ways in, and how each refuses. */
const ways = {
  v1: { path: "/v1/me", headers: {}, type: "application/json", text: '"code":"rate_limited"' },
  v0: { path: "/v0/me", headers: {}, type: "application/json", text: '"code":"rate_limited"' },
  git: {
    path: "/git/shop.git/info/refs?service=git-upload-pack",
    headers: {},
    type: "text/plain",
    text: "More than",
  },
  pulls: { path: "/git/shop/pulls", headers: {}, type: "application/json", text: '"code":"rate_limited"' },
  pages: { path: "/agents", headers: { accept: "text/html" }, type: "text/html", text: "<h1>Too many requests</h1>" },
  login: {
    path: `/login?token=${"a".repeat(43)}`,
    headers: { accept: "text/html" },
    type: "text/html",
    text: "<h1>Too many requests</h1>",
  },
};
type Way = keyof typeof ways;
const wayNames = Object.keys(ways) as Way[];

const enter = (server: TestServer, way: Way, headers: Record<string, string> = {}) =>
  fetch(server.url + ways[way].path, { headers: { ...ways[way].headers, ...headers } });

/** The refusal of a request in the form of the way in; other answers only by status. */
async function outcome(server: TestServer, way: Way, headers: Record<string, string> = {}) {
  const answer = await enter(server, way, headers);
  const text = await answer.text();
  if (answer.status !== 429) return answer.status;
  expect(answer.headers.get("content-type")).toContain(ways[way].type);
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(text).toContain(ways[way].text);
  return 429;
}

const refusedEverywhere = Object.fromEntries(wayNames.map((way) => [way, 429]));
async function outcomes(server: TestServer, headers: Record<string, string> = {}) {
  const all: Record<string, number> = {};
  for (const way of wayNames) all[way] = await outcome(server, way, headers);
  return all;
}

test("requests of one address are counted together, whichever way they come in", async () => {
  const server = await limitedServer({
    requestsPerMinute: manyPerMinute,
    requestsPerMinutePerAddress: wayNames.length,
  });
  expect(Object.values(await outcomes(server))).not.toContain(429);
  expect(await outcomes(server)).toEqual(refusedEverywhere);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
});

test("wrong credentials of one address are counted together, and accepted ones continue", async () => {
  const server = await limitedServer({ requestsPerMinute: manyPerMinute, wrongCredentialsPerMinute: wayNames.length });
  const key = await server.key();
  expect(await outcome(server, "v1", bearer(key))).toBe(200);
  for (const way of wayNames) expect(await outcome(server, way, bearer(wrongKey))).toBe(401);
  expect(await outcomes(server, bearer(wrongKey))).toEqual(refusedEverywhere);
  expect(await outcome(server, "v1", bearer(key))).toBe(200);
  expect(await outcome(server, "v1", bearer(await server.key({ name: "never used before" })))).toBe(429);
});

test.each([
  ["login links", `/login?token=${"a".repeat(43)}`],
  ["invitations", `/join?token=${"a".repeat(43)}`],
  ["sessions", "/v1/me"],
])("wrong %s are counted", async (_what, path) => {
  const server = await limitedServer({ requestsPerMinute: manyPerMinute, wrongCredentialsPerMinute: 2 });
  const statuses: number[] = [];
  for (let count = 0; count < 3; count++)
    statuses.push((await fetch(server.url + path, { headers: { cookie: "platform_session=wrong" } })).status);
  expect(statuses.at(0)).toBeGreaterThanOrEqual(401);
  expect(statuses.at(1)).toBe(statuses.at(0));
  expect(statuses.at(2)).toBe(429);
});

test("requests of a team are counted together: API, git, pages, and those that lack a scope", async () => {
  const server = await limitedServer({ requestsPerMinute: 4 });
  const key = await server.key();
  const { db } = server.platform;
  const user = await db.selectFrom("users").select("id").executeTakeFirstOrThrow();
  const browser = openBrowser(server.url);
  await logIn(browser, await makeLoginLink(db, user.id, server.url));
  const reader = bearer(await server.key({ name: "reader", scopes: ["agents:read"] }));
  expect((await browser.get("/agents")).status).toBe(200);
  expect(await outcome(server, "git", bearer(key))).toBe(404);
  expect((await fetch(`${server.url}/v1/agents`, { method: "POST", headers: reader })).status).toBe(403);
  expect(await outcome(server, "v0", bearer(key))).toBe(200);
  expect((await browser.get("/agents")).status).toBe(429);
  for (const way of ["v1", "v0", "git", "pulls"] as const)
    expect([way, await outcome(server, way, bearer(key))]).toEqual([way, 429]);
  expect(await outcome(server, "v1", bearer(await server.key({ team: "other" })))).toBe(200);
});

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** A request that stays under way: its head is sent, and none of its body. Sent again where another one was first. */
function holdRequest(server: TestServer, path: string, headers: Record<string, string>): { end(): void } {
  const { hostname, port } = new URL(server.url);
  const lines = Object.entries({ host: hostname, "content-length": "100", ...headers });
  const head = `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
  const send = (): Socket => {
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    socket.write(head);
    // Any answer to half a request is a refusal.
    socket.once("data", () => {
      socket.destroy();
      held = send();
    });
    return socket;
  };
  let held = send();
  return { end: () => held.destroy() };
}

const json = { "content-type": "application/json" };

test("a principal has so many requests under way at once, whichever way they come in", async () => {
  const server = await limitedServer({ concurrentRequests: 1 });
  const key = await server.key();
  const held = holdRequest(server, "/v1/agents", { ...bearer(key), ...json });
  for (const way of ["v1", "v0", "git", "pulls"] as const)
    await expect.poll(() => outcome(server, way, bearer(key))).toBe(429);
  const other = bearer(await server.key({ team: "other" }));
  expect(await outcome(server, "v1", other)).toBe(200);
  held.end();
  await expect.poll(() => outcome(server, "v1", bearer(key))).toBe(200);
});

test("an address has so many requests under way at once, with or without a key", async () => {
  const server = await limitedServer({ concurrentRequestsPerAddress: 1 });
  const key = await server.key();
  const held = holdRequest(server, "/v1/agents", { ...bearer(key), ...json });
  for (const way of wayNames) await expect.poll(() => outcome(server, way)).toBe(429);
  held.end();
  await expect.poll(() => outcome(server, "v1", bearer(key))).toBe(200);
});

test("an address has so many connections, also if they send nothing, and may open another when one is closed", async () => {
  const server = await limitedServer({ concurrentRequestsPerAddress: 1 });
  const { hostname, port } = new URL(server.url);
  const open = () =>
    new Promise<Socket>((resolve) => {
      const socket = connect(Number(port), hostname, () => resolve(socket));
      socket.on("error", () => {});
      sockets.push(socket);
    });
  const idle = await Promise.all(Array.from({ length: 102 }, open));
  const oneMore = await open();
  await expect.poll(() => oneMore.destroyed || oneMore.readableEnded || oneMore.closed).toBe(true);
  expect(idle.filter(({ destroyed }) => destroyed)).toEqual([]);
  idle[0]?.destroy();
  await expect.poll(async () => (await fetch(`${server.url}/healthz`).catch(() => null))?.status).toBe(200);
});

test("wrong keys that are sent at once are as many as those sent one after another", async () => {
  const server = await limitedServer({ requestsPerMinute: manyPerMinute, wrongCredentialsPerMinute: 10 });
  const { hostname, port } = new URL(server.url);
  const one = `GET /v1/me HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${wrongKey}\r\n\r\n`;
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  let text = "";
  socket.on("data", (data) => {
    text += data;
  });
  // On one connection, before any answer.
  socket.write(one.repeat(60));
  const count = (status: number) => text.split(`HTTP/1.1 ${status} `).length - 1;
  await expect.poll(() => count(401) + count(429)).toBe(60);
  expect(count(401)).toBe(10);
  expect(await outcome(server, "v1", bearer(wrongKey))).toBe(429);
});

test("a team has so many git processes at once, and other teams their own", async () => {
  const server = await limitedServer({ gitProcesses: 1 });
  const [own, other] = [bearer(await server.key()), bearer(await server.key({ team: "other" }))];
  const { db, vault, settings } = server.platform;
  const teams = await db.selectFrom("teams").select("id").execute();
  const host = openGitHost({
    db,
    vault,
    dataDirectory: settings.dataDirectory,
    signer: testSigner(settings.dataDirectory),
    serverUrls: () => [server.url],
  });
  for (const { id } of teams)
    await host.repositories.create({ teamId: id, name: "shop", from: null }, AbortSignal.timeout(60_000));
  const held = holdRequest(server, "/git/shop.git/git-upload-pack", own);
  await expect.poll(() => outcome(server, "git", own)).toBe(429);
  expect(await outcome(server, "git", other)).toBe(200);
  held.end();
  await expect.poll(() => outcome(server, "git", own)).toBe(200);
});

test.each([
  ["an address that no proxy vouches for", [], ["203.0.113.1", "203.0.113.2"], "together"],
  ["addresses that a trusted proxy names", ["127.0.0.1"], ["203.0.113.1", "203.0.113.2"], "apart"],
  ["what a client wrote before its proxy", ["127.0.0.1"], ["1.1.1.1, 203.0.113.1", "2.2.2.2, 203.0.113.1"], "together"],
  [
    "clients behind two trusted proxies",
    ["127.0.0.1", "10.0.0.0/8"],
    ["203.0.113.1, 10.0.0.9", "203.0.113.2, 10.0.0.9"],
    "apart",
  ],
  ["addresses of one /64", ["127.0.0.1"], ["2001:db8:1:2::1", "2001:db8:1:2:f:f:f:f"], "together"],
  ["addresses of two /64", ["127.0.0.1"], ["2001:db8:1:2::1", "2001:db8:1:3::1"], "apart"],
  ["addresses of this machine", ["127.0.0.1"], ["127.0.0.2", "127.9.9.9"], "together"],
  ["addresses of this machine in both families", ["127.0.0.1"], ["127.0.0.2", "::1"], "together"],
  ["IPv4 within IPv6", ["127.0.0.1"], ["::ffff:203.0.113.1", "203.0.113.1"], "together"],
  ["an address with a port", ["127.0.0.1"], ["203.0.113.1:4711", "203.0.113.1"], "together"],
  ["no address at all", ["127.0.0.1"], ["unknown", "_hidden"], "together"],
])("%s: counted as it should be", async (_what, trustedProxies, [first = "", second = ""], counted) => {
  const server = await limitedServer({
    requestsPerMinute: manyPerMinute,
    requestsPerMinutePerAddress: 1,
    trustedProxies,
  });
  expect(await outcome(server, "v1", { "x-forwarded-for": first })).toBe(401);
  expect(await outcome(server, "v1", { "x-forwarded-for": second })).toBe(counted === "apart" ? 401 : 429);
});

test("the limiter forgets the oldest window rather than grow, and keeps the newest", () => {
  const limiter = rateLimiter(() => 0, 2);
  const spend = (key: string) => () => limiter.spend(key, { requests: 1, seconds: 60 });
  for (const key of ["first", "second", "third"]) spend(key)();
  expect(spend("third")).toThrow("More than 1 request");
  expect(spend("first")).not.toThrow();
});

test("requests with a forged proof of another server count as wrong credentials", async () => {
  const server = await limitedServer({ requestsPerMinute: manyPerMinute, wrongCredentialsPerMinute: 3 });
  const statuses: (number | string)[] = [];
  for (let request = 0; request < 5; request += 1)
    statuses.push(await outcome(server, "v1", { "x-platform-forwarded": "forged" }));
  expect(statuses).toEqual([401, 401, 401, 429, 429]);
});

test("a body that is nested deeply or has a great many entries is refused before it is parsed", async () => {
  const server = await limitedServer({});
  const key = await server.key();
  const post = async (body: string) => {
    const headers = { ...bearer(key), "content-type": "application/json" };
    const answer = await fetch(`${server.url}/v1/agents`, { method: "POST", headers, body });
    return `${answer.status} ${await answer.text()}`;
  };
  expect(await post("[".repeat(500_000))).toMatch(/^400 .*nested deeper than 200/);
  expect(await post(`{"a":[${"0,".repeat(200_000)}0]}`)).toMatch(/^400 .*more than 100000 entries/);
  const text = JSON.stringify(`${"[".repeat(300)}\\"${",".repeat(150_000)}`);
  expect(await post(`{"prompt":{"text":${text}},"unknown":1}`)).toMatch(/^400 .*unknown/);
});

test("connections of workers are counted with all other requests", async () => {
  const server = await testServer({
    roles: ["api", "runner"],
    rateLimits: { ...noRateLimits, requestsPerMinute: manyPerMinute, wrongCredentialsPerMinute: 2 },
  });
  onTestFinished(server.close);
  const connectWorker = async (key: string) => {
    const headers = {
      ...{ connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" },
      ...{ "sec-websocket-key": Buffer.alloc(16).toString("base64"), ...bearer(key) },
    };
    return (await sendRequest(server.url, { method: "GET", path: workerPath, headers })).status;
  };
  expect([await connectWorker(wrongKey), await connectWorker(wrongKey)]).toEqual([401, 401]);
  expect(await connectWorker(wrongKey)).toBe(429);
  expect(await outcome(server, "v1", bearer(wrongKey))).toBe(429);
});

interface Source {
  url: string;
  secret: string;
}

async function createSource(server: TestServer): Promise<Source> {
  const { body } = await server.call(await server.key(), "POST", "/v1/event-sources", { type: "github", name: "shop" });
  const { url, secret } = body as Source;
  return { url: server.url + new URL(url).pathname, secret };
}

const sendEvent = ({ url, secret }: Source, body = "{}") =>
  fetch(url, {
    method: "POST",
    body,
    headers: {
      "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
      "x-github-event": "push",
      "x-github-delivery": randomUUID(),
    },
  });

test("events of a source host are requests of its team", async () => {
  const server = await limitedServer({ requestsPerMinute: 5 });
  const source = await createSource(server);
  const statuses: number[] = [];
  for (let number = 0; number < 6; number += 1) statuses.push((await sendEvent(source)).status);
  expect(statuses).toEqual([202, 202, 202, 202, 429, 429]);
  expect(await outcome(server, "v1", bearer(await server.key()))).toBe(429);
});

/** Announces a body and never sends it. */
function announce(url: string, bytes: number, headers: Record<string, string>): { status: string | undefined } {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  const lines = Object.entries({ host: "localhost", "content-length": String(bytes), ...headers });
  socket.write(`POST ${pathname} HTTP/1.1\r\n${lines.map((line) => line.join(": ")).join("\r\n")}\r\n\r\n`);
  const answer: { status: string | undefined } = { status: undefined };
  socket.on("error", () => {});
  socket.once("data", (text) => {
    answer.status = String(text).split(" ")[1];
  });
  return answer;
}

test("forms of logins are small, and are not read beyond that", async () => {
  const server = await limitedServer({ concurrentRequests: 1_000 });
  const form = { "sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded" };
  for (const page of ["login", "join"]) {
    const large = announce(`${server.url}/${page}`, 1024 * 1024, form);
    await expect.poll(() => large.status).toBe("413");
    const answer = await fetch(`${server.url}/${page}`, { method: "POST", headers: form, body: "token=wrong" });
    expect([401, 403]).toContain(answer.status);
  }
});

test("a sender has so many bytes of bodies under way at once: events, and calls of models", async () => {
  const server = await limitedServer({ concurrentRequests: 1_000 });
  const source = await createSource(server);
  const signature = { "x-hub-signature-256": `sha256=${"0".repeat(64)}` };
  const large = (url: string) => announce(url, 25 * 1024 * 1024, signature);
  // All fit but one, whichever comes last.
  const events = Array.from({ length: 3 }, () => large(source.url));
  await expect.poll(() => events.flatMap(({ status }) => status ?? [])).toEqual(["429"]);
  // Who sends them is not known yet: those of one address count together, whichever source they are for.
  const other = await createSource(server);
  const toOther = large(other.url);
  await expect.poll(() => toOther.status).toBe("429");
  expect((await sendEvent(other)).status).toBe(202);
  const json = { ...bearer(await server.key()), "content-type": "application/json" };
  const inference = `${server.url}/v1/inference/responses`;
  const calls = Array.from({ length: 3 }, () => announce(inference, 100 * 1024 * 1024, json));
  await expect.poll(() => calls.flatMap(({ status }) => status ?? [])).toEqual(["429"]);
  expect((await fetch(inference, { method: "POST", headers: json, body: "{}" })).status).toBe(400);
});

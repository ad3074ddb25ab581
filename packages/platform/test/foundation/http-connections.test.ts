// Connections of clients that do not speak HTTP as they should.
import { once } from "node:events";
import { BlockList, connect } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import {
  type AdmissionLimits,
  type Api,
  addSelfRoutes,
  createApi,
  type HttpServer,
  listen,
} from "../../src/foundation/http/index.ts";
import { type Log, openMetrics } from "../../src/foundation/telemetry/index.ts";
import { openAuthentication } from "../../src/identity/authenticate.ts";
import { openSessionAuthenticator } from "../../src/identity/sessions/index.ts";
import { type TestPlatform, testPlatform } from "../harness/platform.ts";
import { noRateLimits } from "../harness/settings.ts";

let tested: TestPlatform;
let server: HttpServer;
beforeAll(async () => {
  tested = await testPlatform();
  const api = openApi({});
  addSelfRoutes(api, {
    metrics: openMetrics(),
    metricsAccess: { token: null, publicUrl: null },
    version: "1",
    url: "/",
    obstacle: async () => "told so",
  });
  server = await listen(api, { listen: { host: "127.0.0.1", port: 0 }, tls: null });
});
afterAll(async () => {
  await server.stop();
  await tested.close();
});

const log: Log = { info() {}, warn() {}, error() {} };

function openApi(limits: Partial<AdmissionLimits>): Api {
  const { principals, sessions, settings } = tested.platform;
  return createApi({
    authenticate: openAuthentication({
      principals,
      sessionAuthenticator: openSessionAuthenticator(sessions, settings),
    }),
    limits: { ...noRateLimits, ...limits, trustedProxies: new BlockList() },
    log,
    metrics: openMetrics(),
    queryTimeoutMs: 60_000,
  });
}

test("input that is not HTTP gets an error response too", async () => {
  expect(await raw("HELLO\r\n\r\n")).toMatch(/^HTTP\/1.1 400 .*"validation_error"/s);
  expect(await raw(`GET / HTTP/1.1\r\nx: ${"y".repeat(100_000)}\r\n\r\n`)).toMatch(/^HTTP\/1.1 413 .*too_large/s);
  expect(await raw("GET /v1/me HTTP/1.1\r\nHost: a b c\r\nConnection: close\r\n\r\n")).toMatch(/^HTTP\/1.1 400 /);
});

test.each([
  ["the server instead of a path", "OPTIONS * HTTP/1.1\r\nHost: a.example"],
  ["two hosts", "GET /readyz HTTP/1.1\r\nHost: a.example\r\nHost: b.example"],
  ["a host twice", "GET /readyz HTTP/1.1\r\nHost: a.example\r\nhost: a.example"],
  ["another host in its target", "GET http://b.example/readyz HTTP/1.1\r\nHost: a.example"],
  [
    "two hosts for a WebSocket",
    "GET /readyz HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\nConnection: Upgrade\r\nUpgrade: websocket",
  ],
])("a request that names %s is refused: a proxy may have read it otherwise", async (_what, head) => {
  const close = head.includes("Upgrade") ? "" : "\r\nConnection: close";
  const answer = await raw(`${head}${close}\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1\.1 400 .*"validation_error","message":"The (?:request|target)/s);
  expect(answer).toMatch(/x-request-id: [\w-]{36}/i);
});

test("the whole address as the target of a request is served", async () => {
  const head = "GET http://a.example/healthz HTTP/1.1\r\nHost: A.example:80\r\nConnection: close";
  expect(await raw(`${head}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
});

async function raw(text: string): Promise<string> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  socket.on("error", () => {});
  socket.write(text);
  await once(socket, "close");
  return answer;
}

test("readiness is reported to HTTP/1.0 clients too", async () => {
  expect(await raw("GET /readyz HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1\.1 503 .*told so/s);
});

test("a WebSocket that is asked for before an earlier answer closes the connection, and the server goes on", async () => {
  const upgrade = "GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";
  expect(await raw(`GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n${upgrade}`)).not.toContain(" 101 ");
  expect(await raw(`GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
});

test("requests that wait behind another one of their connection hold nothing when it is closed", async () => {
  const held: string[] = [];
  const testEnd = new Promise<void>((resolve) => onTestFinished(() => resolve()));
  const api = openApi({ concurrentRequests: 6 });
  const answer = { status: 200, schema: () => z.unknown(), description: "An answer" } as const;
  const shared = { summary: "A route", tag: "test", scope: null, method: "get" } as const;
  api.route({ ...shared, path: "/v1/slow", answer }, async ({ context }) => {
    held.push(context.get("requestId"));
    context.env.outgoing.once("close", () => void held.pop());
    // As work that does not notice that its reader has gone.
    await testEnd;
    return {};
  });
  api.route({ ...shared, path: "/v1/fast", answer }, async () => ({}));
  const limited = await listen(api, { listen: { host: "127.0.0.1", port: 0 }, tls: null });
  onTestFinished(limited.stop);
  const key = await tested.key();
  const { hostname, port } = new URL(limited.url);
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`;
  for (let round = 0; round < 3; round += 1) {
    const socket = connect(Number(port), hostname);
    socket.write(`${get("/v1/slow")}${get("/v1/fast").repeat(4)}`);
    await expect.poll(() => held.length).toBe(1);
    socket.destroy();
    await expect.poll(() => held.length).toBe(0);
  }
  const headers = { authorization: `Bearer ${key}` };
  expect((await fetch(`${limited.url}/v1/fast`, { headers })).status).toBe(200);
});

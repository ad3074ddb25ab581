// Ports and terminals of a machine while a run uses it.
import { request } from "node:http";
import type { AuditPage, TerminalScreen } from "@agentcli/protocol/api";
import { call, replyWith } from "@agentcli/testkit";
import { openClient } from "@agentcli/testkit/platform";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { localMachines, noRateLimits } from "../harness/settings.ts";
import { openEnvironmentHarness } from "./environment-harness.ts";
import { hasMachines } from "./machine-harness.ts";

/** Answers requests with what it was sent, and WebSockets with what they send. */
const devServer = `
const { createServer } = require("node:http");
const { createHash } = require("node:crypto");
const server = createServer((request, response) => response.end(JSON.stringify({ url: request.url, ...request.headers })));
server.on("upgrade", ({ headers }, socket) => {
  const key = createHash("sha1").update(headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest("base64");
  socket.write("HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: " + key + "\\r\\n\\r\\n");
  socket.write(Buffer.from([0x81, 5, ...Buffer.from("hello")]));
});
server.listen(3000, "127.0.0.1", () => console.log("listening"));
`;

interface Answer {
  status: number;
  text: string;
  headers: Record<string, string | string[] | undefined>;
}

/** As a browser that finds every name below localhost on this machine. */
function fetchAt(serverUrl: string, address: string, headers: Record<string, string> = {}): Promise<Answer> {
  const { host, pathname, search } = new URL(address);
  const { hostname, port } = new URL(serverUrl);
  return new Promise((resolve, reject) => {
    const sent = request(
      { hostname, port, path: `${pathname}${search}`, headers: { host, ...headers } },
      (response) => {
        let text = "";
        response.on("data", (data: Buffer) => {
          text += data;
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }));
      },
    );
    sent.on("error", reject).end();
  });
}

interface Ports {
  items: { name: string; port: number; origin: string; url: string }[];
}

test("the owner of an agent sees its dev server and types into its terminals; other callers are refused", async () => {
  const wait = "until [ -e typed ]; do sleep 0.1; done; tmux capture-pane -p -t platform:shell; cat database";
  const harness = await openEnvironmentHarness({
    executor: "machines",
    replies: [call("exec_command", { cmd: wait, yield_time_ms: 600_000 }), replyWith("Done.")],
    settings: {
      machines: localMachines,
      rateLimits: { ...noRateLimits, requestsPerMinute: 1_000_000, wrongCredentialsPerMinute: 5 },
    },
  });
  if (!(await hasMachines(harness))) return;
  const config = {
    start: "echo ready > database",
    terminals: [
      { name: "dev server", command: "/run/agent/node server.cjs" },
      { name: "shell", command: "exec sh" },
    ],
    ports: [{ name: "Shop", port: 3000 }],
  };
  const files = { "server.cjs": devServer, ".platform/environment.json": JSON.stringify(config) };
  const url = await harness.repository("shop", files);
  const { client, fixture } = harness;
  const ids = await client.create({ prompt: { text: "begin" }, repos: [{ url }] });
  const at = (path: string) => `/v1/agents/${ids.agentId}${path}`;
  await expect
    .poll(async () => (await client.get(at("/terminals/dev%20server"))).text, { timeout: 120_000 })
    .toContain("listening");
  const { items } = await client.getJson<Ports>(at("/ports"));
  const [shop] = items;
  if (shop === undefined) return expect.fail("no port");
  const key = { authorization: `Bearer ${fixture.key}` };
  const serverUrl = client.url;

  const byKey = await fetchAt(serverUrl, `${shop.origin}/a?b=1`, key);
  expect(JSON.parse(byKey.text)).toMatchObject({ url: "/a?b=1", host: "localhost:3000" });
  expect(JSON.parse(byKey.text)).not.toHaveProperty("authorization");
  const withCookie = await fetchAt(serverUrl, `${shop.origin}/`, { ...key, cookie: "platform_preview=guess" });
  expect(JSON.parse(withCookie.text)).not.toHaveProperty("authorization");
  const entered = await fetchAt(serverUrl, shop.url);
  expect(entered).toMatchObject({ status: 303, headers: { location: "/" } });
  const cookie = String(entered.headers["set-cookie"]).split(";")[0] ?? "";
  const seen = await fetchAt(serverUrl, `${shop.origin}/`, { cookie: `own=1; ${cookie}` });
  expect(JSON.parse(seen.text)).toMatchObject({ url: "/", cookie: "own=1" });
  const host = new URL(shop.origin).host;
  const message = await new Promise<string>((resolve, reject) => {
    const socket = new WebSocket(serverUrl.replace("http", "ws"), { headers: { host, cookie } });
    socket.on("message", (data) => {
      resolve(String(data));
      socket.close();
    });
    socket.on("error", reject);
  });
  expect(message).toBe("hello");

  expect((await fetchAt(serverUrl, `${shop.origin}/`)).status).toBe(401);
  expect((await fetchAt(serverUrl, shop.url)).status).toBe(401);
  expect((await fetchAt(serverUrl, `${shop.origin}/`, { cookie: "platform_preview=guess" })).status).toBe(401);
  const owner = { kind: "user", email: "other@example.com" } as const;
  const named = { name: "other", team: "default", owner, scopes: null, expiresAt: null };
  const other = openClient(serverUrl, (await fixture.platform.principals.createKey(named)).key);
  expect((await fetchAt(serverUrl, `${shop.origin}/`, { authorization: `Bearer ${other.key}` })).status).toBe(403);
  expect((await other.get(at("/ports"))).status).toBe(403);
  expect((await fetchAt(serverUrl, shop.origin.replace("3000", "5432"), key)).status).toBe(404);
  await expect
    .poll(async () => (await fetchAt(serverUrl, `${shop.origin}/`, { authorization: "Bearer guess" })).status)
    .toBe(429);
  expect((await fetchAt(serverUrl, `${shop.origin}/`, key)).status).toBe(200);

  const screenAfter = (after: string) =>
    client.getJson<TerminalScreen>(at(`/terminals/shell/screen?after=${encodeURIComponent(after)}`));
  const begun = await screenAfter("");
  expect(begun).toMatchObject({ isRunning: true, cursor: { line: 0 } });
  // Whatever the letters of the id, the audit log has it as it is.
  const inCapitals = at("/terminals/shell/input").replace(ids.agentId, ids.agentId.toUpperCase());
  await client.post(inCapitals, { text: "printf '\\033[31mred\\033[0m '\n" });
  await expect.poll(async () => (await screenAfter(begun.revision)).text).toContain("\x1b[31mred");
  expect((await other.get(at("/terminals/shell/screen"))).status).toBe(403);
  expect((await client.get(at("/terminals/none/screen"))).status).toBe(404);

  await client.post(at("/terminals/shell/input"), { text: "echo $((6 * 7)) > typed\n" });
  const typed = await client.getJson<AuditPage>("/v1/audit?action=terminal.");
  expect(typed.items).toMatchObject([
    { action: "terminal.typed", subject: ids.agentId, actor: "user:1", data: { terminal: "shell" } },
  ]);
  expect(JSON.stringify(typed)).not.toContain("6 * 7");
  const frames = await client.stream(ids);
  expect(JSON.stringify(frames)).toContain("echo $((6 * 7)) > typed");
  expect(JSON.stringify(frames)).toContain("ready");
  expect((await client.getJson<Ports>(at("/ports"))).items).toEqual([]);
  expect((await fetchAt(serverUrl, `${shop.origin}/`, { cookie })).status).toBe(409);
});

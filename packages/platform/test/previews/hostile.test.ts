// Previews of a machine that does what it can to reach the platform, and of visitors who lost access.
import { once } from "node:events";
import { createServer, type RequestListener, request, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { Settings } from "../../src/foundation/config/index.ts";
import { ApiError } from "../../src/foundation/http/index.ts";
import { openIdentity } from "../../src/identity/index.ts";
import { openPreviews } from "../../src/previews/index.ts";
import { type MachineInUse, openMachinesInUse } from "../../src/runs/execution/machines-in-use.ts";
import { serve } from "../../src/serve.ts";
import { type TestPlatform, testPlatform } from "../harness/platform.ts";
import { noRateLimits } from "../harness/settings.ts";

const agentId = "bc-00000000-0000-4000-8000-000000000001";
const port = 3000;

interface Preview extends TestPlatform {
  url: string;
  /** The host name of the preview. */
  host: string;
  ownerKey: string;
  /** The value of the header Cookie, for a ticket of the owner. */
  enter(): Promise<string>;
  fetch(headers: Record<string, string>): Promise<{ status: number; headers: Record<string, unknown>; text: string }>;
}

async function openPreview(machine: RequestListener, changes: Partial<Settings> = {}): Promise<Preview> {
  const server = createServer(machine);
  server.on("upgrade", (sent, socket: Socket) => server.emit("request", sent, rawAnswer(socket)));
  return preview(server, changes);
}

/** For a request with `Upgrade` that is answered as any other. */
function rawAnswer(socket: Socket) {
  const end = (text = "") =>
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\nconnection: keep-alive\r\n\r\n${text}`);
  return { end, setHeader() {} };
}

async function preview(
  server: Server,
  { exec, ...changes }: Partial<Settings> & { exec?: MachineInUse["workspace"]["exec"] } = {},
): Promise<Preview> {
  const test = await testPlatform({ roles: ["api"], rateLimits: noRateLimits, ...changes });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const ownerKey = await test.key();
  const owner = (await test.platform.principals.authenticate(`Bearer ${ownerKey}`)) as {
    principal: { userId: number };
  };
  let address = (): string => "";
  const running = await serve(test.platform, async (context) => {
    address = context.serverUrl;
    const { principals, sessions, ...identity } = openIdentity(context);
    const machinesInUse = openMachinesInUse();
    machinesInUse.add(agentId, {
      config: { ports: [{ name: "web", port }] },
      workspace: { exec: exec ?? (() => Promise.reject(new Error("no commands"))) },
      dial: () => connect((server.address() as AddressInfo).port, "127.0.0.1"),
    });
    const findOwned = async (principal: { userId?: number }) => {
      if (principal.userId === owner.principal.userId) return { id: agentId };
      throw new ApiError("forbidden", "not the owner");
    };
    const subject = openPreviews(context, { machinesInUse, principals, sessions, findOwned: findOwned as never });
    return { identity: { principals, sessions, ...identity }, subjects: [subject] };
  });
  onTestFinished(async () => {
    await running.stop();
    server.closeAllConnections();
    server.close();
    await test.close();
  });
  const url = address();
  const host = `${port}--${agentId}.localhost`;
  const fetchAt = (path: string, headers: Record<string, string>) => send(url, path, { host, ...headers });
  return {
    ...test,
    url,
    host,
    ownerKey,
    fetch: (headers) => fetchAt("/", headers),
    async enter() {
      const ports = await fetch(`${url}/v1/agents/${agentId}/ports`, {
        headers: { authorization: `Bearer ${ownerKey}` },
      });
      const { items } = (await ports.json()) as { items: { url: string }[] };
      const { pathname, search } = new URL(items[0]?.url ?? "");
      const { headers } = await fetchAt(`${pathname}${search}`, {});
      return String(headers["set-cookie"]).split(";")[0] ?? "";
    },
  };
}

function send(url: string, path: string, headers: Record<string, string>) {
  return new Promise<Awaited<ReturnType<Preview["fetch"]>>>((resolve, reject) => {
    const sent = request(`${url}${path}`, { headers, agent: false }, (answer) => {
      let text = "";
      answer.on("data", (data: Buffer) => {
        text += data;
      });
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
    });
    sent.on("error", reject).end();
  });
}

test("a page of a machine changes cookies of its own host name alone", async () => {
  const { fetch: visit, enter } = await openPreview((_, response) => {
    response.setHeader("set-cookie", [
      "platform_session=attacker; Path=/; Domain=example.com; HttpOnly",
      "a=1;DOMAIN =.localhost",
      "b=domain=2; Path=/",
    ]);
    response.setHeader("clear-site-data", '"cookies", "storage"');
    response.end("page");
  });
  const { headers } = await visit({ cookie: await enter() });
  expect(headers["set-cookie"]).toEqual(["platform_session=attacker; Path=/; HttpOnly", "a=1", "b=domain=2; Path=/"]);
  expect(headers).not.toHaveProperty("clear-site-data");
});

test("over https the pass has the prefix that other host names cannot set, and one without it is worth nothing", async () => {
  const { fetch: visit, enter } = await openPreview((_, response) => void response.end("page"), {
    publicUrl: "https://platform.example.com",
  });
  const cookie = await enter();
  expect(cookie).toMatch(/^__Host-platform_preview=/);
  expect((await visit({ cookie })).status).toBe(200);
  expect((await visit({ cookie: cookie.replace("__Host-", "") })).status).toBe(401);
});

test("a machine gets neither a key of the platform nor a cookie of it, also from a visitor with a pass", async () => {
  const {
    fetch: visit,
    enter,
    ownerKey,
  } = await openPreview((sent, response) => {
    response.end(JSON.stringify(sent.headers));
  });
  const cookie = await enter();
  const others = "platform_session=s; __Host-platform_session=s; __Host-platform_login=l; own=1";
  for (const authorization of [
    `Bearer ${ownerKey}`,
    `Basic ${btoa(`${ownerKey}:`)}`,
    `Basic ${btoa(`user:${ownerKey}`)}`,
  ]) {
    const seen = JSON.parse((await visit({ cookie: `${others}; ${cookie}`, authorization })).text);
    expect(seen).toMatchObject({ cookie: "own=1" });
    expect(seen).not.toHaveProperty("authorization");
  }
  const own = JSON.parse((await visit({ cookie, authorization: "Bearer of-the-page" })).text);
  expect(own).toMatchObject({ authorization: "Bearer of-the-page" });
});

test("an answer that agrees to no WebSocket ends the connection: what a proxy sends on it next reaches no machine", async () => {
  const requests: string[] = [];
  const { url, host, enter } = await openPreview((sent, response) => {
    requests.push(sent.url ?? "");
    response.end("no");
  });
  const cookie = await enter();
  const { hostname, port: ownPort } = new URL(url);
  const socket = connect(Number(ownPort), hostname);
  let received = "";
  socket.on("data", (data) => {
    received += data;
    if (received.endsWith("no")) socket.write("GET /next HTTP/1.1\r\nhost: other\r\ncookie: secret=1\r\n\r\n");
  });
  socket.on("error", () => {});
  const head = [`host: ${host}`, `cookie: ${cookie}`, "connection: Upgrade", "upgrade: websocket"];
  socket.write(`GET /first HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\n`);
  await once(socket, "close");
  expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(received).toContain("connection: close");
  expect(requests).toEqual(["/first"]);
});

test("a pass ends with the key that it was issued for, and so does a connection that was opened with it", async () => {
  const server = createServer((_, response) => void response.end("page"));
  server.on("upgrade", (_, socket: Socket) =>
    socket.write("HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\r\nhello"),
  );
  const { url, host, enter, fetch: visit, platform, ownerKey } = await preview(server);
  const cookie = await enter();
  expect((await visit({ cookie })).status).toBe(200);
  const socket = await new Promise<Socket>((resolve, reject) => {
    const headers = { host, cookie, connection: "Upgrade", upgrade: "websocket" };
    request(url, { headers })
      .on("upgrade", (_, stream) => resolve(stream))
      .on("error", reject)
      .end();
  });
  const closed = new Promise((resolve) => socket.on("close", resolve).on("error", () => {}));
  await platform.principals.revokeKey(ownerKey.split("_")[1] ?? "");
  await expect.poll(async () => (await visit({ cookie })).status).toBe(401);
  await closed;
});

test("requests to previews are under way with all others of an address and of their owner", async () => {
  let waiting = 0;
  const limits = { ...noRateLimits, concurrentRequests: 3, concurrentRequestsPerAddress: 6 };
  const { url, host, fetch: visit, enter } = await openPreview(() => (waiting += 1), { rateLimits: limits });
  const cookie = await enter();
  const begun = Array.from({ length: 3 }, () => {
    const sent = request(url, { headers: { host, cookie }, agent: false });
    return sent.on("error", () => {}).end();
  });
  await expect.poll(() => waiting).toBe(3);
  expect(await visit({ cookie })).toMatchObject({ status: 429 });
  const api = await fetch(`${url}/v1/agents/${agentId}/ports`, { headers: { authorization: "Bearer x" } });
  expect(api.status).toBe(401);
  for (const sent of begun) sent.destroy();
});

test("requests to previews that cannot exist are counted with all others of their address", async () => {
  const limits = { ...noRateLimits, requestsPerMinute: 100_000, requestsPerMinutePerAddress: 20 };
  const { url, host } = await openPreview(() => {}, { rateLimits: limits });
  const statusOf = (name: string, path: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const sent = request(url, { headers: { host: name }, path, agent: false });
      sent
        .on("error", reject)
        .on("response", (answer) => resolve(answer.resume().statusCode))
        .end();
    });
  const other = host.replace(/^\d+/, "99999");
  for (const [name, path] of [
    [other, "/"],
    [other, "/.platform-preview?ticket=x"],
    [host, "//"],
  ] as const)
    expect([401, 404]).toContain(await statusOf(name, path));
  for (let count = 0; count < 20; count += 1) await statusOf(other, "/");
  expect(await statusOf(other, "/")).toBe(429);
  expect((await fetch(`${url}/v1/me`)).status).toBe(429);
});

test("a tmux of the machine that writes without end is stopped, and fills no memory", async () => {
  let written = 0;
  const text = "x".repeat(64 * 1024);
  const exec: MachineInUse["workspace"]["exec"] = async (_, onChunk, signal) => {
    while (!signal?.aborted && written < 1024 * 1024 * 1024) {
      written += text.length;
      onChunk({ seq: written, stream: "stdout", text } as Parameters<typeof onChunk>[0]);
    }
    throw new Error("aborted");
  };
  const { url, ownerKey } = await preview(createServer(), { exec });
  const headers = { authorization: `Bearer ${ownerKey}` };
  const answer = await fetch(`${url}/v1/agents/${agentId}/terminals`, { headers });
  expect(answer.status).toBe(404);
  expect(await answer.text()).toContain("tmux writes without end");
  expect(written).toBeLessThan(4 * 1024 * 1024);
});

test("a connection whose WebSocket was refused is closed on the server too, at previews and elsewhere", async () => {
  const { url, host } = await openPreview(() => {});
  const { hostname, port: ownPort } = new URL(url);
  const openSockets = () => process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
  const before = openSockets();
  const refuse = async (name: string) => {
    const socket = connect(Number(ownPort), hostname);
    const head = [`host: ${name}`, "connection: Upgrade", "upgrade: websocket", "sec-websocket-version: 13"];
    socket.write(`GET /v1/worker HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\n`);
    socket.resume();
    await once(socket, "close");
  };
  await Promise.all(Array.from({ length: 20 }, (_, number) => refuse(number % 2 === 0 ? host : "localhost")));
  await expect.poll(openSockets).toBeLessThanOrEqual(before);
});

test.each([
  ["000 X", 502],
  ["099 X", 502],
  ["200 O\u0001K", 200],
])(
  "a machine that answers with the status line %j gets its page an answer, and the server goes on",
  async (line, status) => {
    const machine = createServer();
    machine.on("connection", (socket) => {
      socket.on("error", () => {}).once("data", () => socket.end(`HTTP/1.1 ${line}\r\ncontent-length: 0\r\n\r\n`));
    });
    const { fetch: visit, enter } = await preview(machine);
    const cookie = await enter();
    expect((await visit({ cookie })).status).toBe(status);
    const socket = await visit({ cookie, connection: "upgrade", upgrade: "websocket" });
    expect(socket.status).toBe(status);
  },
);

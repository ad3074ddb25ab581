// Several server processes with different roles: a client, and a worker, may ask any of those with the role `api`, and the
// one that drives the run answers.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import type { Duplex } from "node:stream";
import { eventually } from "@agentcli/testkit";
import { openClient, openForFile, openPlatformForFile, spawnTestWorker } from "@agentcli/testkit/platform";
import { expect, test } from "vitest";

const port = 3000;
const bigBytes = 48 * 1024 * 1024;

/** Answers HTTP and upgrades, with what the system has. */
const server = `
import socket, sys, threading
def serve(client):
    data = b""
    while b"\\r\\n\\r\\n" not in data: data += client.recv(65536)
    head, rest = data.split(b"\\r\\n\\r\\n", 1)
    if b"\\nupgrade: websocket" in head.lower():
        client.sendall(b"HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n")
        while True:
            data = rest or client.recv(65536)
            rest = b""
            if not data: break
            client.sendall(data.upper())
    elif head.startswith(b"GET /big "):
        client.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: ${bigBytes}\\r\\nConnection: close\\r\\n\\r\\n")
        for _ in range(${bigBytes} // 1048576): client.sendall(b"x" * 1048576)
    else:
        body = head.lower()
        client.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\nConnection: close\\r\\n\\r\\n" % len(body) + body)
    client.close()
listener = socket.create_server(("127.0.0.1", ${port}))
print("listening", flush=True)
while True: threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
`;

const platform = openPlatformForFile({
  replies: {
    replies: [{ calls: [{ name: "exec_command", arguments: { cmd: "python3 server.py", yield_time_ms: 600_000 } }] }],
    repeat: "always",
  },
  env: { PLATFORM_LEASE_SECONDS: "2" },
});

/** One server with the role `api` alone, one that drives runs and serves no client, and a worker that knows the first. */
const scene = openForFile(
  async () => {
    const harness = platform();
    const api = await harness.serve({ args: ["--role", "api"] });
    const env = { PLATFORM_PUBLIC_URL: api.url };
    const runner = await harness.serve({ args: ["--role", "runner,scheduler"], env });
    const key = await harness.key();
    const client = openClient(api.url, key);
    const environment = JSON.stringify({ ports: [{ name: "web", port }] });
    const url = await harness.repository("shop", { "server.py": server, ".platform/environment.json": environment });
    const worker = spawnTestWorker({ url: api.url, key, directory: harness.directory, args: ["--name", "laptop"] });
    await eventually(() => worker.log().join("\n").includes("Waiting for agents."));
    const ids = await client.create("serve it", { env: { type: "machine", name: "laptop" }, repos: [{ url }] });
    const portsOf = async () =>
      (await client.getJson<{ items: { url: string; origin: string }[] }>(`/v1/agents/${ids.agentId}/ports`)).items;
    await eventually(async () => (await portsOf()).length === 1);
    const { id: runnerId, address: runnerUrl } = await readRunner();
    return { api, runner, client, ids, worker, portsOf, runnerId, runnerUrl, key };
  },
  async ({ worker, api, runner }) => {
    await worker.stop("SIGKILL");
    await Promise.all([api.stop(), runner.stop()]);
  },
);

async function readRunner(): Promise<{ id: string; address: string }> {
  const query = "select id, address from nodes where 'runner' = any(roles)";
  const [runner] = await platform().database.query<{ id: string; address: string }>(query);
  if (runner === undefined) throw new Error("no server has the role runner");
  // It says after a # whose loopback it is of.
  return { ...runner, address: runner.address.split("#")[0] ?? "" };
}

interface Answered {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  bytes: Buffer;
}

/** Of the preview's host name, at the server that has the role `api`. */
function visit(path: string, headers: Record<string, string> = {}): Promise<Answered> {
  const { api, ids } = scene();
  const host = `${port}--${ids.agentId}.localhost`;
  return new Promise((resolve, reject) => {
    const sent = request(`${api.url}${path}`, { headers: { host, ...headers }, agent: false }, async (answer) => {
      const parts: Buffer[] = [];
      for await (const part of answer) parts.push(part as Buffer);
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes: Buffer.concat(parts) });
    });
    sent.on("error", reject).end();
  });
}

async function enter(): Promise<string> {
  const [first] = await scene().portsOf();
  const { pathname, search } = new URL(first?.url ?? "");
  const { status, headers } = await visit(`${pathname}${search}`);
  expect(status).toBe(303);
  return String(headers["set-cookie"]).split(";")[0] ?? "";
}

const listening = async (cookie: string) => expect.poll(async () => (await visit("/", { cookie })).status).toBe(200);

test("a preview of a port on a worker is served by a server that neither drives the run nor holds the worker", async () => {
  const cookie = await enter();
  await listening(cookie);
  const { bytes } = await visit("/page", { cookie: `${cookie}; theme=dark`, "x-own": "kept" });
  const head = bytes.toString();
  expect(head).toContain("get /page http/1.1");
  expect(head).toContain("x-own: kept");
  expect(head).toContain("cookie: theme=dark");
  expect(head).not.toContain("x-platform-forwarded");
  expect((await visit("/page")).status).toBe(401);
});

test("an answer of many megabytes arrives whole, and a client that does not read it fills no server's memory", async () => {
  const { api, runner, ids } = scene();
  const cookie = await enter();
  await listening(cookie);
  const { bytes } = await visit("/big", { cookie });
  const whole = Buffer.alloc(bigBytes, "x");
  expect(hash(bytes)).toBe(hash(whole));
  const host = `${port}--${ids.agentId}.localhost`;
  const before = [residentBytes(api.child.pid), residentBytes(runner.child.pid)];
  const unread = await Promise.all(
    Array.from(
      { length: 6 },
      () =>
        new Promise<Duplex>((resolve) => {
          const sent = request(`${api.url}/big`, { headers: { host, cookie }, agent: false }, (answer) => {
            answer.pause();
            resolve(answer.socket);
          });
          sent.end();
        }),
    ),
  );
  await visit("/page", { cookie });
  const after = [residentBytes(api.child.pid), residentBytes(runner.child.pid)];
  for (const socket of unread) socket.destroy();
  for (const [at, bytesAfter] of after.entries()) expect(bytesAfter - (before[at] ?? 0)).toBeLessThan(bigBytes * 3);
});

const hash = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

function residentBytes(pid: number | undefined): number {
  const [, kilobytes = "0"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1_024;
}

test("a WebSocket of a preview goes through both servers to the worker", async () => {
  const cookie = await enter();
  await listening(cookie);
  const { api, ids } = scene();
  const host = `${port}--${ids.agentId}.localhost`;
  const headers = { host, cookie, connection: "Upgrade", upgrade: "websocket" };
  const echoed = await new Promise<string>((resolve, reject) => {
    const sent = request(`${api.url}/socket`, { headers, agent: false });
    sent.on("upgrade", (_, socket) => {
      socket.once("data", (data: Buffer) => {
        resolve(data.toString());
        socket.destroy();
      });
      socket.write("through both");
    });
    sent.on("response", ({ statusCode }) => reject(new Error(`answered ${statusCode}`)));
    sent.on("error", reject).end();
  });
  expect(echoed).toBe("THROUGH BOTH");
});

test("routes about the machine are answered by the server that drives the run, also with a body", async () => {
  const { client, ids } = scene();
  const terminals = await client.get(`/v1/agents/${ids.agentId}/terminals`, { "x-request-id": "from-the-client" });
  expect(terminals).toMatchObject({ status: 200, text: '{"items":[]}' });
  expect(terminals.headers["x-request-id"]).toBe("from-the-client");
  const typed = await client.post(`/v1/agents/${ids.agentId}/terminals/none/input`, { text: "ls\n" });
  expect(typed).toMatchObject({ status: 404, text: expect.stringContaining("The machine has no terminal") });
});

test("a server without the role api answers other servers alone, and a forged proof is refused by both", async () => {
  const { api, runnerUrl, ids, key } = scene();
  const path = `/v1/agents/${ids.agentId}/ports`;
  const own = openClient(runnerUrl, key);
  expect((await own.get(path)).status).toBe(404);
  for (const forged of ["x", "e30.e30", `${Buffer.from('{"to":"x"}').toString("base64url")}.AAAA`])
    for (const url of [api.url, own.url])
      expect(await openClient(url, key).get(path, { "x-platform-forwarded": forged })).toMatchObject({
        status: 401,
        text: expect.stringContaining("is not from a server of this platform"),
      });
});

test("a server that cannot be reached is named in the error", async () => {
  const { client, ids, runnerId, runnerUrl } = scene();
  const { database } = platform();
  const path = `/v1/agents/${ids.agentId}/ports`;
  const setAddress = (address: string | null) =>
    database.query("update nodes set address = $1 where id = $2", [address, runnerId]);
  await setAddress(null);
  expect(await client.get(path)).toMatchObject({
    status: 503,
    text: expect.stringContaining(
      `The server ${runnerId} has to answer this, and could not be reached: it has advertised`,
    ),
  });
  await setAddress("http://127.0.0.1:1");
  expect((await client.get(path)).text).toContain(
    `The server ${runnerId} has to answer this, and could not be reached`,
  );
  await setAddress(`${runnerUrl}#another-machine`);
  expect((await client.get(path)).text).toContain(
    "it listens on an address of its own machine alone. Set internal_url there",
  );
  await setAddress(runnerUrl);
  await database.query("update runs set lease_owner = 'ghost' where id = $1", [ids.runId]);
  expect((await client.get(path)).text).toContain(
    "The server ghost has to answer this, and could not be reached: no server",
  );
  await database.query("update runs set lease_owner = $1 where id = $2", [runnerId, ids.runId]);
  expect((await client.get(path)).status).toBe(200);
});

test("a run on a worker is cancelled through a server that does not drive it", async () => {
  const { client, ids, portsOf } = scene();
  await client.post(`/v1/agents/${ids.agentId}/runs/${ids.runId}/cancel`);
  expect(await client.waitForRun(ids)).toMatchObject({ status: "CANCELLED" });
  expect(await portsOf()).toEqual([]);
});

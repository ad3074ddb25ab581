// The proxy as clients see it: real connections in, real servers behind, everything else refused and reported.
import { createServer as createHttp, type Server as HttpServer, type IncomingMessage, request } from "node:http";
import { connect, createServer, type Server, type Socket } from "node:net";
import { buffer, text } from "node:stream/consumers";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Denial, Resolve } from "../../src/egress/dial.ts";
import { openEgressProxy } from "../../src/egress/proxy.ts";
import { readRules } from "../../src/egress/rules.ts";

let upstream: HttpServer;
let port = 0;
let seen: IncomingMessage[] = [];
beforeAll(async () => {
  upstream = createHttp(async (incoming, response) => {
    seen.push(incoming);
    response.writeHead(200, { "x-from": "upstream", "set-cookie": ["a=1", "b=2"] });
    response.end(`${incoming.method} ${incoming.url} ${await text(incoming)}`);
  });
  port = await listen(upstream);
});
afterAll(() => void upstream.close());

let denials: Denial[] = [];
let closers: (() => void)[] = [];
beforeEach(() => {
  [denials, closers, seen] = [[], [], []];
});
afterEach(() => {
  for (const close of closers) close();
});

const addresses: Record<string, string[]> = {
  "app.test": ["127.0.0.1"],
  "rebound.test": ["127.0.0.1", "10.0.0.1", "::ffff:127.0.0.1", "fd00::1"],
  "mixed.test": ["169.254.169.254", "127.0.0.1"],
  "literal.test": ["127.0.0.1"],
};
let lookups: string[] = [];
const resolve: Resolve = async (name) => {
  lookups.push(name);
  const listed = addresses[name];
  if (!listed) throw new Error(`getaddrinfo ENOTFOUND ${name}`);
  return listed.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
};

function listen(server: Server): Promise<number> {
  return new Promise((settle) =>
    server.listen(0, "127.0.0.1", () => settle((server.address() as { port: number }).port)),
  );
}

/** The proxy with these rules, on its own port. */
async function proxyFor(kind: "http" | "socks", allowed: string[], denied: string[] = []): Promise<number> {
  lookups = [];
  const proxy = openEgressProxy({
    rules: readRules(allowed, denied),
    onDenied: (denial) => void denials.push(denial),
    resolve,
  });
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    proxy.accept(kind, socket);
  });
  const at = await listen(server);
  closers.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return at;
}

/** Sends the bytes and returns everything that comes back. */
async function exchange(at: number, bytes: string | Buffer): Promise<string> {
  const socket = connect({ port: at, host: "127.0.0.1", allowHalfOpen: true });
  closers.push(() => socket.destroy());
  socket.on("error", () => {});
  socket.write(bytes);
  return (await buffer(socket)).toString("latin1");
}

const connectTo = (target: string) => `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`;
const get = (target: string) => `GET / HTTP/1.1\r\nHost: ${target}\r\nConnection: close\r\n\r\n`;

test("a tunnel leads to an allowed host and carries bytes both ways", async () => {
  const at = await proxyFor("http", [`app.test:${port}`, `127.0.0.1:${port}`]);
  const answer = await exchange(at, `${connectTo(`app.test:${port}`)}${get("app.test")}`);
  expect(answer).toMatch(/^HTTP\/1\.1 200 Connection established\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
  expect(answer).toContain("x-from: upstream");
  expect(denials).toEqual([]);
});

test("a plain request is forwarded without hop-by-hop headers", async () => {
  const at = await proxyFor("http", [`app.test:${port}`, `127.0.0.1:${port}`]);
  const answer = await new Promise<IncomingMessage>((settle, reject) => {
    const outgoing = request({
      port: at,
      method: "POST",
      path: `http://app.test:${port}/path?query`,
      headers: { host: `app.test:${port}`, "proxy-authorization": "Basic x", "x-mine": "1", connection: "keep-alive" },
    });
    outgoing.on("response", settle).on("error", reject).end("a body");
  });
  expect(await text(answer)).toBe("POST /path?query a body");
  expect(answer).toMatchObject({ statusCode: 200, headers: { "x-from": "upstream", "set-cookie": ["a=1", "b=2"] } });
  expect(seen[0]?.headers).toMatchObject({ "x-mine": "1", host: `app.test:${port}` });
  expect(seen[0]?.headers).not.toHaveProperty("proxy-authorization");
});

test("a host that is not listed is refused by name, before any name lookup", async () => {
  const at = await proxyFor("http", ["example.com", "*.npmjs.org:443"]);
  const answer = await exchange(at, connectTo("evil.test:443"));
  expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
  expect(answer).toContain("x-proxy-error: blocked-by-allowlist\r\n");
  expect(answer).toContain("evil.test:443 is not in allowed_domains (example.com, *.npmjs.org:443).");
  const plain = await exchange(at, `GET http://secret.data.evil.test/ HTTP/1.1\r\nHost: secret.data.evil.test\r\n\r\n`);
  expect(plain).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
  expect(lookups).toEqual([]);
  expect(denials.map(({ host, port: to, by }) => `${host}:${to} ${by}`)).toEqual([
    "evil.test:443 allowlist",
    "secret.data.evil.test:80 allowlist",
  ]);
});

test("a denied domain is refused although it is allowed, by name and by resolved address", async () => {
  const at = await proxyFor("http", ["*", `127.0.0.1:${port}`, `app.test:${port}`], ["*.bad.test", "127.0.0.1"]);
  expect(await exchange(at, connectTo("a.bad.test:443"))).toContain("x-proxy-error: blocked-by-denylist");
  expect(denials[0]?.reason).toBe('a.bad.test:443 matches "*.bad.test" in denied_domains.');
  expect(await exchange(at, connectTo(`app.test:${port}`))).toContain(
    `app.test:${port} resolves to 127.0.0.1, which matches "127.0.0.1" in denied_domains.`,
  );
});

test("a refusal says which entry would allow the host on another port, or by a name", async () => {
  const at = await proxyFor("http", ["*", "db.test:5432"]);
  for (const [target, reason] of [
    ["shop.test:22", '"*" allows it on port 80 and 443 only.'],
    ["169.254.169.254:80", '"*" allows names, not addresses.'],
  ] as const)
    expect(await exchange(at, connectTo(target))).toContain(
      `${target} is not in allowed_domains (*, db.test:5432). ${reason}`,
    );
});

test("a name that resolves to a private address is refused, unless that address is listed", async () => {
  const private_ = await proxyFor("http", [`rebound.test:${port}`, `literal.test:${port}`, `127.0.0.1:1`]);
  const answer = await exchange(private_, connectTo(`rebound.test:${port}`));
  expect(answer).toContain("x-proxy-error: blocked-by-policy");
  expect(answer).toContain("list the address itself in allowed_domains");
  const listed = await proxyFor("http", [`mixed.test:${port}`, `127.0.0.1:${port}`]);
  expect(await exchange(listed, `${connectTo(`mixed.test:${port}`)}${get("mixed.test")}`)).toContain(
    "x-from: upstream",
  );
});

test.each([
  "127.0.0.1",
  "2130706433",
  "0x7f000001",
  "0177.0.0.1",
  "127.1",
  "[::1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "localhost",
])("the host's loopback cannot be reached as %s", async (host) => {
  const at = await proxyFor("http", ["*", `*:${port}`]);
  expect(await exchange(at, connectTo(`${host}:${port}`))).toMatch(/^HTTP\/1\.1 (400|403|502) /);
  expect(await exchange(at, `GET http://${host}:${port}/ HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`)).toMatch(
    /^HTTP\/1\.1 (400|403|502) /,
  );
  expect(seen).toEqual([]);
});

test("another host in the Host header is refused and reported", async () => {
  const at = await proxyFor("http", [`app.test:${port}`, `127.0.0.1:${port}`]);
  for (const headers of ["Host: evil.test", `Host: app.test:${port}\r\nHost: evil.test`]) {
    const answer = await exchange(at, `GET http://app.test:${port}/ HTTP/1.1\r\n${headers}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 40[03] /);
  }
  expect(seen).toEqual([]);
  expect(denials[0]).toMatchObject({ host: "app.test", by: "policy", reason: expect.stringContaining("evil.test") });
});

test("each request of one connection is checked separately", async () => {
  const at = await proxyFor("http", [`app.test:${port}`, `127.0.0.1:${port}`]);
  const first = `GET http://app.test:${port}/one HTTP/1.1\r\nHost: app.test:${port}\r\n\r\n`;
  const answers = await exchange(at, `${first}GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n`);
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 403"]);
});

test("an unreachable host is a bad gateway with the reason", async () => {
  const at = await proxyFor("http", ["missing.test", "127.0.0.1:9"]);
  expect(await exchange(at, connectTo("missing.test:443"))).toMatch(/502 Bad Gateway[\s\S]*ENOTFOUND missing\.test/);
  expect(await exchange(at, connectTo("127.0.0.1:9"))).toMatch(/502 Bad Gateway[\s\S]*ECONNREFUSED/);
  expect(denials).toEqual([]);
});

const socksTo = (host: string, to: number) =>
  Buffer.concat([Buffer.of(5, 1, 0, 5, 1, 0, 3, host.length), Buffer.from(host), Buffer.of(to >> 8, to & 255)]);

test("a server that switches to another protocol is a bad gateway", async () => {
  const switching = createServer((socket) => {
    const answer = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n";
    socket.once("data", () => socket.end(answer)).on("error", () => {});
  });
  const other = await listen(switching);
  closers.push(() => void switching.close());
  const at = await proxyFor("http", [`app.test:${other}`, `127.0.0.1:${other}`]);
  const sent = `GET http://app.test:${other}/ HTTP/1.1\r\nHost: app.test:${other}\r\nConnection: close\r\n\r\n`;
  expect(await exchange(at, sent)).toMatch(/^HTTP\/1\.1 502 /);
});

test.each([
  ["000 X", "HTTP/1.1 502 "],
  ["099 X", "HTTP/1.1 502 "],
  ["200 O\u0001\u001b[2JK", "HTTP/1.1 200 O[2JK\r\n"],
])("the status line %j of a server does not end the proxy", async (line, passedOn) => {
  const odd = createServer((socket) => {
    socket.on("error", () => {}).once("data", () => socket.end(`HTTP/1.1 ${line}\r\ncontent-length: 0\r\n\r\n`));
  });
  const oddPort = await listen(odd);
  closers.push(() => void odd.close());
  const at = await proxyFor("http", [`app.test:${oddPort}`, `127.0.0.1:${oddPort}`]);
  const target = `app.test:${oddPort}`;
  const request = `GET http://${target}/ HTTP/1.1\r\nHost: ${target}\r\nConnection: close\r\n\r\n`;
  expect(await exchange(at, request)).toMatch(passedOn);
});

test("requests that a client sends at once are served in turn, and end with its connection", async () => {
  const held: Socket[] = [];
  const silent = createServer((socket) => void held.push(socket.on("error", () => {}).resume()));
  const silentPort = await listen(silent);
  closers.push(() => void silent.close());
  const at = await proxyFor("http", [`app.test:${silentPort}`, `127.0.0.1:${silentPort}`]);
  const target = `app.test:${silentPort}`;
  const client = connect(at, "127.0.0.1");
  closers.push(() => client.destroy());
  client.write(`GET http://${target}/ HTTP/1.1\r\nHost: ${target}\r\n\r\n`.repeat(20));
  await expect.poll(() => held.length).toBeGreaterThan(0);
  client.destroy();
  await expect.poll(() => held.every(({ closed, readableEnded }) => closed || readableEnded)).toBe(true);
  expect(held).toHaveLength(1);
});

test("a SOCKS client reaches an allowed host, also when it sends everything at once", async () => {
  const at = await proxyFor("socks", [`app.test:${port}`, `127.0.0.1:${port}`]);
  const answer = await exchange(at, Buffer.concat([socksTo("app.test", port), Buffer.from(get("app.test"))]));
  expect(answer.slice(0, 12)).toBe("\x05\0\x05\0\0\x01\0\0\0\0\0\0");
  expect(answer).toContain("x-from: upstream");
});

test("a SOCKS client gets a code for hosts that are not allowed, not supported or invalid", async () => {
  const at = await proxyFor("socks", [`app.test:${port}`]);
  const code = async (bytes: Buffer) => (await exchange(at, bytes)).charCodeAt(3);
  expect(await code(socksTo("evil.test", 443))).toBe(2);
  expect(await code(socksTo("app.test", port))).toBe(2);
  expect(await code(socksTo("0x7f.1", port))).toBe(8);
  expect(await code(Buffer.of(5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, port >> 8, port & 255))).toBe(2);
  expect(await code(Buffer.of(5, 1, 0, 5, 3, 0, 1, 1, 1, 1, 1, 0, 53))).toBe(7);
  expect(await exchange(at, Buffer.of(5, 1, 2))).toBe("\x05\xff");
  expect(denials.map(({ host }) => host)).toEqual(["evil.test", "app.test", "127.0.0.1"]);
});

test("whatever a client sends, the proxy answers or closes the connection, and keeps serving", async () => {
  const [http, socks] = [await proxyFor("http", ["a.test"]), await proxyFor("socks", ["a.test"])];
  const lines = fc.constantFrom(
    "CONNECT a.test:443",
    "GET http://a.test/",
    "POST http://a.test/",
    "GET /",
    "CONNECT",
    "\0\x05\x01",
  );
  const ends = fc.constantFrom(
    " HTTP/1.1\r\n\r\n",
    "\r\n\r\n",
    " HTTP/1.1\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n",
    "\n",
  );
  await fc.assert(
    fc.asyncProperty(lines, fc.uint8Array({ maxLength: 60 }), ends, async (line, middle, end) => {
      const bytes = Buffer.concat([Buffer.from(line), Buffer.from(middle), Buffer.from(end)]);
      await Promise.all([http, socks].map((at) => sendAndClose(at, bytes)));
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 100) },
  );
  expect(await exchange(http, connectTo("evil.test:443"))).toContain("403 Forbidden");
  expect(await exchange(socks, socksTo("evil.test", 443))).toHaveLength(12);
});

function sendAndClose(at: number, bytes: Buffer): Promise<void> {
  return new Promise((settle) => {
    const socket = connect({ port: at, host: "127.0.0.1" });
    socket.on("error", () => {});
    socket.on("close", () => settle());
    socket.resume();
    socket.end(bytes);
  });
}

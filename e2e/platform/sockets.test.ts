// Invalid input on a connection: the server responds or disconnects, and keeps serving other clients.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type PlatformClient, servePlatformForFile, servePlatformForTest } from "@agentcli/testkit/platform";
import fc from "fast-check";
import { beforeAll, expect, onTestFinished, test } from "vitest";

const shared = servePlatformForFile({ args: ["--role", "api"] });
let client: PlatformClient;
beforeAll(async () => {
  client = await shared().client();
});

async function open({ url }: PlatformClient): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

/** All that comes until the server hangs up. */
async function answerTo(client: PlatformClient, bytes: Buffer | string): Promise<string> {
  const socket = await open(client);
  const pieces: Buffer[] = [];
  socket.on("data", (piece) => pieces.push(piece));
  socket.end(bytes);
  await once(socket, "close");
  return Buffer.concat(pieces).toString("latin1");
}

const isServing = async (client: PlatformClient): Promise<boolean> => (await client.get("/v1/me")).status === 200;

test("any bytes are answered with a client error or not at all, never with a server error", async () => {
  const begun = fc.constantFrom(
    "",
    "GET / HTTP/1.1\r\n",
    "POST /v1/agents HTTP/1.1\r\nhost: x\r\n",
    "PRI * HTTP/2.0\r\n\r\n",
  );
  const bytes = fc
    .tuple(begun, fc.uint8Array({ maxLength: 300 }))
    .map(([head, rest]) => Buffer.concat([Buffer.from(head), rest]));
  await fc.assert(
    fc.asyncProperty(bytes, async (sent) => {
      const answer = await answerTo(client, sent);
      expect(answer).not.toMatch(/^HTTP\/1\.1 5/);
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 200), seed: 7 },
  );
  expect(await isServing(client)).toBe(true);
});

test("contradictory requests are refused", async () => {
  const head = `POST /v1/agents HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${client.key}\r\ncontent-type: application/json\r\n`;
  const body = '{"prompt":{"text":"smuggled"}}';
  for (const [sent, status] of [
    [`${head}content-length: 5\r\ncontent-length: 6\r\n\r\n{}`, 400],
    [`${head}content-length: ${body.length}\r\ntransfer-encoding: chunked\r\n\r\n${body}`, 400],
    [`${head}transfer-encoding: chunked\r\n\r\nzz\r\n${body}`, 400],
    [`${head}content-length: -1\r\n\r\n${body}`, 400],
    [`${head}x-long: ${"x".repeat(100_000)}\r\n\r\n`, 413],
    [`GET /v1/agents HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${client.key}\nx: y\r\n\r\n`, 400],
    ["GET http://elsewhere.example/v1/me HTTP/1.1\r\n\r\n", 400],
  ] as const)
    expect((await answerTo(client, sent)).split("\r\n")[0], sent.slice(0, 200)).toMatch(`HTTP/1.1 ${status}`);
  expect((await client.get("/v1/agents")).body).toEqual({ items: [] });
});

test("a truncated body creates nothing", async () => {
  const body = '{"prompt":{"text":"whole"}}';
  const head = `POST /v1/agents HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${client.key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  for (const length of [0, 1, 10, body.length - 1]) {
    const socket = await open(client);
    socket.write(head + body.slice(0, length), () => socket.destroy());
    await once(socket, "close");
  }
  expect(await isServing(client)).toBe(true);
  expect((await client.get("/v1/agents")).body).toEqual({ items: [] });
});

test("hundreds of incomplete requests delay neither other clients nor the shutdown", async () => {
  const platform = await servePlatformForTest({ args: ["--role", "api"] });
  const client = await platform.client();
  const slow = await Promise.all(Array.from({ length: 300 }, () => open(client)));
  for (const [index, socket] of slow.entries())
    socket.write(
      index % 2
        ? "GET /v1/me HTTP/1.1\r\nx-slow"
        : "POST /v1/agents HTTP/1.1\r\nhost: x\r\ncontent-length: 99\r\n\r\n{",
    );
  const answers = await Promise.all(Array.from({ length: 50 }, () => isServing(client)));
  expect(answers.every(Boolean)).toBe(true);
  expect(await platform.server.stop()).toEqual({ code: 0, signal: null });
});

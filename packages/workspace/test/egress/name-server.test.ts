// The name server of a machine over real sockets: whatever programs send, and however they read, it goes on and stays small.
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTask } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { addressType } from "../../src/egress/transparent/messages.ts";
import { openNameServer, type Resolve } from "../../src/egress/transparent/name-server.ts";

const fuzzRuns = { numRuns: Number(process.env.FUZZ_RUNS ?? 300) };

let closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.reverse()) close();
  closers = [];
});

function query(name: string, id = 7): Buffer {
  const labels = name.split(".").flatMap((label) => [Buffer.of(label.length), Buffer.from(label)]);
  const head = Buffer.from([0, id, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  return Buffer.concat([head, ...labels, Buffer.from([0, 0, addressType, 0, 1])]);
}

const framed = (message: Buffer) => Buffer.concat([Buffer.of(message.length >> 8, message.length & 255), message]);
const codeOf = (answer: Buffer) => answer.readUInt16BE(2) & 15;

/** Counts the lookups of each name; those of "fails.example" do. */
function counting() {
  const counts = new Map<string, number>();
  const resolve: Resolve = async ({ name }) => {
    counts.set(name, (counts.get(name) ?? 0) + 1);
    if (name === "fails.example") throw new Error("EMFILE");
    return { kind: "address", address: "198.19.0.2" };
  };
  return { resolve, count: (name: string) => counts.get(name) ?? 0 };
}

/** On a socket file: buffers of the kernel are small there. */
async function serveConnections(resolve: Resolve) {
  const directory = mkdtempSync(join(tmpdir(), "names-"));
  closers.push(() => rmSync(directory, { recursive: true }));
  const nameServer = openNameServer(resolve);
  const path = join(directory, "socket");
  const server = createServer({ allowHalfOpen: true }, nameServer.serve).listen(path);
  closers.push(() => server.close());
  await once(server, "listening");
  return (): Socket => {
    const client = connect({ path, allowHalfOpen: true }).on("error", () => {});
    closers.push(() => client.destroy());
    return client;
  };
}

async function serveDatagrams(resolve: Resolve) {
  const bind = async () => {
    const socket = createSocket("udp4").bind(0, "127.0.0.1");
    closers.push(() => socket.close());
    await once(socket, "listening");
    return socket;
  };
  const [server, client] = [await bind(), await bind()];
  openNameServer(resolve).listen(server);
  return {
    server,
    send: (bytes: Buffer) => client.send(bytes, server.address().port, "127.0.0.1"),
    async ask(bytes: Buffer): Promise<Buffer> {
      const answer = once(client, "message");
      client.send(bytes, server.address().port, "127.0.0.1");
      return (await answer)[0] as Buffer;
    },
  };
}

async function askOver(connection: Socket, message: Buffer): Promise<Buffer> {
  connection.write(framed(message));
  return ((await once(connection, "data"))[0] as Buffer).subarray(2);
}

test("a client that asks without end and reads no answer is not read either; others are answered meanwhile", async () => {
  const { resolve, count } = counting();
  const open = await serveConnections(resolve);
  const greedy = open();
  const asked = 50_000;
  greedy.write(Buffer.concat(Array(asked).fill(framed(query("greedy.example")))));
  const polite = open();
  for (let asking = 0; asking < 500; asking += 1)
    expect(codeOf(await askOver(polite, query("polite.example")))).toBe(0);
  expect(count("polite.example")).toBe(500);
  expect(count("greedy.example")).toBeLessThan(asked / 2);
  // It goes on once it reads.
  let received = 0;
  const bytesOfAll = asked * (2 + query("greedy.example").length + 16);
  for await (const part of greedy) {
    received += (part as Buffer).length;
    if (received >= bytesOfAll) break;
  }
  expect(count("greedy.example")).toBe(asked);
});

test("a lookup that fails is answered with a failure, and the next ones are served", async () => {
  const { resolve } = counting();
  const { ask } = await serveDatagrams(resolve);
  expect(codeOf(await ask(query("fails.example")))).toBe(2);
  expect(codeOf(await ask(query("web.example")))).toBe(0);
  const connection = (await serveConnections(resolve))();
  expect(codeOf(await askOver(connection, query("fails.example")))).toBe(2);
  expect(codeOf(await askOver(connection, query("web.example")))).toBe(0);
});

test("a datagram from port 0, which cannot be answered, is passed over", async () => {
  const { resolve, count } = counting();
  const { server, ask } = await serveDatagrams(resolve);
  server.emit("message", query("zero.example"), { address: "127.0.0.1", family: "IPv4", port: 0, size: 0 });
  expect(codeOf(await ask(query("web.example")))).toBe(0);
  expect(count("zero.example")).toBe(0);
});

test("however messages over a connection are cut, each is answered in its turn", async () => {
  const open = await serveConnections(counting().resolve);
  const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 6 }), cuts, async (messages, sizes) => {
      const client = open();
      const sent = Buffer.concat(Array.from({ length: messages }, (_, index) => framed(query("web.example", index))));
      for (let [at, turn] = [0, 0]; at < sent.length; turn += 1) {
        const size = sizes[turn % sizes.length] ?? 1;
        client.write(sent.subarray(at, at + size));
        at += size;
        await nextTask();
      }
      client.end();
      const parts: Buffer[] = [];
      for await (const part of client) parts.push(part as Buffer);
      const answers = Buffer.concat(parts);
      const each = answers.length / messages;
      expect(Array.from({ length: messages }, (_, index) => answers.readUInt16BE(index * each + 2))).toEqual(
        Array.from({ length: messages }, (_, index) => index),
      );
    }),
    fuzzRuns,
  );
});

test("whatever bytes come over a connection or as datagrams, the next lookup is answered", async () => {
  const { resolve } = counting();
  const open = await serveConnections(resolve);
  const { send, ask } = await serveDatagrams(resolve);
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 1500 }).map((each) => Buffer.from(each));
  await fc.assert(
    fc.asyncProperty(bytes, async (sent) => {
      const client = open();
      client.end(sent);
      send(sent);
      await once(client.resume(), "close");
      const next = open();
      expect(codeOf(await askOver(next, query("web.example")))).toBe(0);
      next.destroy();
    }),
    fuzzRuns,
  );
  const last = query("web.example", 255);
  for (let answer = await ask(last); answer[1] !== 255; answer = await ask(last));
});

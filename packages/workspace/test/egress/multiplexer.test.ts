// Many connections over one stream: none is lost, none blocks another, and a hostile side gains nothing.
import { createHash, randomBytes } from "node:crypto";
import { connect, createServer, type Server, type Socket } from "node:net";
import { type Duplex, Readable } from "node:stream";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { windowBytes } from "../../src/egress/channel.ts";
import { connectStreams } from "../../src/egress/connect-streams.ts";
import { writeFrame } from "../../src/egress/frames.ts";
import { openMultiplexer } from "../../src/egress/multiplexer.ts";
import { until } from "../support/commands.ts";

const opened: (Server | Socket | Duplex)[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) "close" in one ? one.close() : one.destroy();
});

/** Two ends of one real connection. */
async function pair(): Promise<[Socket, Socket]> {
  const server = createServer({ allowHalfOpen: true });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  const one = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const other = await accepted;
  opened.push(server, one, other);
  return [one, other];
}

/** A multiplexer whose other side hands every channel to `onChannel`. */
async function bridge(onChannel: (kind: number, channel: Duplex) => void) {
  const [inside, outside] = await pair();
  openMultiplexer({ stream: outside, onChannel });
  return { multiplexer: openMultiplexer({ stream: inside }), inside, outside };
}

const echo = (_kind: number, channel: Duplex) => void channel.pipe(channel);

/** Unlike the iterators of streams, leaves the other direction open. */
const readAll = (stream: Duplex) =>
  new Promise<Buffer>((resolve, reject) => {
    const parts: Buffer[] = [];
    stream.on("data", (part: Buffer) => parts.push(part));
    stream.on("end", () => resolve(Buffer.concat(parts)));
    stream.on("close", () => reject(new Error("closed before its end")));
  });

const digest = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

test("two hundred connections at once each get their own bytes back", async () => {
  const { multiplexer } = await bridge(echo);
  const sent = Array.from({ length: 200 }, (_, index) => randomBytes(1000 + index * 700));
  const back = await Promise.all(sent.map((bytes) => readAll(Readable.from([bytes]).pipe(multiplexer.open(0)))));
  expect(back.map(digest)).toEqual(sent.map(digest));
});

test("a large transfer arrives whole though the window is small", async () => {
  const { multiplexer } = await bridge(echo);
  const bytes = randomBytes(20 * windowBytes + 17);
  const channel = multiplexer.open(0);
  channel.end(bytes);
  expect(digest(await readAll(channel))).toBe(digest(bytes));
});

test("a connection without a reader is suspended and does not block another", async () => {
  const stuck: Duplex[] = [];
  const { multiplexer } = await bridge(
    (kind, channel) => void (kind === 1 ? stuck.push(channel) : echo(kind, channel)),
  );
  const first = multiplexer.open(1);
  let written = 0;
  const pour = () => {
    while (first.write(Buffer.alloc(64 * 1024))) written += 64 * 1024;
  };
  first.on("drain", pour);
  pour();
  const second = multiplexer.open(0);
  second.end("hello");
  expect((await readAll(second)).toString()).toBe("hello");
  expect(written).toBeLessThan(2 * windowBytes);
  expect(stuck[0]?.readableLength).toBeLessThanOrEqual(windowBytes);
});

test("each side can end its own direction and still read the other", async () => {
  const { multiplexer } = await bridge(async (_kind, channel) => {
    const question = await readAll(channel);
    channel.end(`you said ${question}`);
  });
  const channel = multiplexer.open(0);
  channel.end("hi");
  expect((await readAll(channel)).toString()).toBe("you said hi");
});

test("a connection reset on one side is reset on the other", async () => {
  const there: Duplex[] = [];
  const { multiplexer } = await bridge((_kind, channel) => void there.push(channel));
  const channel = multiplexer.open(0);
  await until(() => there.length === 1);
  channel.destroy();
  await until(() => there[0]?.destroyed === true);
  const second = multiplexer.open(0);
  await until(() => there.length === 2);
  there[1]?.destroy();
  await until(() => second.destroyed);
});

test("the end of the stream is the end of every connection, also of those opened later", async () => {
  const { multiplexer, outside } = await bridge(echo);
  const channels = [multiplexer.open(0), multiplexer.open(0)];
  outside.destroy();
  await until(() => channels.every((channel) => channel.destroyed));
  expect(multiplexer.open(0).destroyed).toBe(true);
});

test("connections over the limit are refused, and the others are not affected", async () => {
  const { multiplexer } = await bridge(echo);
  const channels = Array.from({ length: 513 }, () => multiplexer.open(0));
  await until(() => channels[512]?.destroyed === true);
  channels[0]?.end("still here");
  expect((await readAll(channels[0] ?? expect.fail())).toString()).toBe("still here");
});

const frame = (type: "open" | "data" | "end" | "reset" | "credit", channel: number, payload: string | Buffer = "") =>
  writeFrame({ type, channel, payload: Buffer.from(payload) });

test.each<[string, Buffer[]]>([
  ["opens one twice", [frame("open", 1, "\0"), frame("open", 1, "\0")]],
  ["opens nothing in particular", [frame("open", 1)]],
  ["sends after its end", [frame("open", 1, "\0"), frame("end", 1), frame("data", 1, "x")]],
  ["ends twice", [frame("open", 1, "\0"), frame("end", 1), frame("end", 1)]],
  ["gives credit beyond the window", [frame("open", 1, "\0"), frame("credit", 1, Buffer.of(0, 0, 0, 1))]],
  ["gives malformed credit", [frame("open", 1, "\0"), frame("credit", 1, Buffer.of(0, 1))]],
  [
    "sends more than the window",
    [frame("open", 1, "\0"), ...Array.from({ length: 17 }, () => frame("data", 1, Buffer.alloc(16_384)))],
  ],
  ["sends a frame of no known kind", [Buffer.from([9, 0, 0, 0, 1, 0, 0])]],
  ["sends a frame that is too long", [Buffer.from([1, 0, 0, 0, 1, 255, 255])]],
])("a side that %s is cut off", async (_what, frames) => {
  const [inside, outside] = await pair();
  openMultiplexer({ stream: outside, onChannel: () => {} });
  for (const bytes of frames) inside.write(bytes);
  await until(() => outside.destroyed);
});

test("whatever bytes come, nothing is thrown and every opened channel is closed in the end", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(anyFrame, fc.uint8Array({ maxLength: 40 })), { maxLength: 30 }),
      async (parts) => {
        const [inside, outside] = await pair();
        const channels: Duplex[] = [];
        openMultiplexer({
          stream: outside,
          onChannel(kind, channel) {
            channels.push(channel);
            echo(kind, channel);
          },
        });
        for (const part of parts) inside.write(part);
        inside.end();
        await until(() => outside.destroyed && channels.every((channel) => channel.destroyed));
      },
    ),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 100) },
  );
});

const anyFrame = fc
  .record({
    type: fc.constantFrom("open", "data", "end", "reset", "credit"),
    channel: fc.integer({ min: 0, max: 3 }),
    payload: fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
  })
  .map(writeFrame);

test("two joined connections pass on all bytes, then end together", async () => {
  const [client, near] = await pair();
  const [far, server] = await pair();
  connectStreams(near, far);
  const bytes = randomBytes(3_000_000);
  client.end(bytes);
  expect(digest(await readAll(server))).toBe(digest(bytes));
  server.end("done");
  expect((await readAll(client)).toString()).toBe("done");
  await until(() => near.destroyed && far.destroyed);
});

// What the egress proxy costs: many streams at once through it, against a plain relay of TCP in a process like it.
import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { rolldown } from "rolldown";

const streams = 200;
const bytesPerStream = 4 * 1024 * 1024;
const rounds = 5;
/** Ends its line: a lone word could begin a request, and the proxy would wait for the rest. */
const begin = "go\n";

/** Rows of the table: what, who, value, unit, ratio, limit. */
export async function egressRows({ root, scratch }) {
  const bundle = await rolldown({
    input: join(root, "packages/workspace/src/egress/proxy.ts"),
    platform: "node",
    logLevel: "silent",
  });
  await bundle.write({ file: join(scratch, "egress-proxy.mjs"), format: "esm", codeSplitting: false });
  await bundle.close();
  const upstream = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(Buffer.alloc(bytesPerStream)));
  }).listen(0, "127.0.0.1");
  await once(upstream, "listening");
  const { port } = upstream.address();
  const kinds = await Promise.all(Object.keys(relays).map((kind) => startRelay(kind, { port, scratch })));
  // In turn, so that other load of the machine meets both.
  for (let round = 0; round < rounds; round += 1)
    for (const relay of kinds) relay.best = Math.max(relay.best, await measure(relay));
  for (const { stop } of kinds) stop();
  const [plain, proxy] = kinds.map(({ best }) => best);
  upstream.close();
  return [
    [`${streams} streams at once`, "plain TCP relay", plain, "MB/s", null, ""],
    [`${streams} streams at once`, "egress proxy", proxy, "MB/s", proxy / plain, "≥ 0.8x"],
  ];
}

async function startRelay(kind, { port, scratch }) {
  const file = join(scratch, `${kind}-relay.mjs`);
  writeFileSync(file, relays[kind](port));
  const relay = fork(file);
  const [at] = await once(relay, "message");
  const greeting = kind === "proxy" ? `CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\n` : begin;
  return { at, greeting, best: 0, stop: () => relay.kill() };
}

async function measure({ at: port, greeting }) {
  const started = performance.now();
  const sizes = await Promise.all(Array.from({ length: streams }, () => receive(port, greeting)));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (bytes !== streams * bytesPerStream) throw new Error(`Received ${bytes} bytes.`);
  return bytes / 1e6 / ((performance.now() - started) / 1000);
}

/** Without the answer to CONNECT. */
function receive(port, greeting) {
  return new Promise((resolve, reject) => {
    let size = 0;
    const socket = connect(port, "127.0.0.1", () => socket.write(greeting));
    if (greeting !== begin)
      socket.once("data", (data) => {
        size -= data.indexOf("\r\n\r\n") + 4;
        socket.write(begin);
      });
    socket.on("data", (data) => {
      size += data.length;
    });
    socket.on("end", () => resolve(size));
    socket.on("error", reject);
  });
}

const serve = "server.listen(0, '127.0.0.1', () => process.send(server.address().port));";
const relays = {
  plain: (port) => `
    import { connect, createServer } from "node:net";
    const server = createServer((socket) => {
      const other = connect(${port}, "127.0.0.1");
      socket.pipe(other).pipe(socket);
      for (const each of [socket, other]) each.on("error", () => {});
    });
    ${serve}`,
  proxy: (port) => `
    import { createServer } from "node:net";
    import { openEgressProxy } from "./egress-proxy.mjs";
    const rule = { text: "upstream", match: { kind: "host", host: { kind: "address", address: "127.0.0.1" } }, port: ${port} };
    const proxy = openEgressProxy({ rules: { allowed: [rule], denied: [] }, onDenied: () => {}, onTraffic: () => {} });
    const server = createServer({ allowHalfOpen: true }, (socket) => proxy.accept("http", socket));
    ${serve}`,
};

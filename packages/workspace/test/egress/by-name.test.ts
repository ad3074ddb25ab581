// Transparent egress: queries of programs are read defensively, names have addresses of the machine, and the host decides anew
// at each lookup and at each connection, whatever the other end sends.
import { createServer, type Server } from "node:http";
import { type Duplex, duplexPair } from "node:stream";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import type { Denial } from "../../src/egress/dial.ts";
import { openMultiplexer } from "../../src/egress/multiplexer.ts";
import { openEgressProxy } from "../../src/egress/proxy.ts";
import { readRules } from "../../src/egress/rules.ts";
import { openAssignedNames } from "../../src/egress/transparent/assigned-names.ts";
import { addressType, readQuery, writeAnswer } from "../../src/egress/transparent/messages.ts";
import { connectionKind, lookupKind } from "../../src/wire/index.ts";

const fuzzRuns = { numRuns: Number(process.env.FUZZ_RUNS ?? 300) };

function queryBytes(labels: Buffer[], type = addressType): Buffer {
  const head = Buffer.from([0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  const name = labels.flatMap((label) => [Buffer.of(label.length), label]);
  return Buffer.concat([head, ...name, Buffer.from([0, type >> 8, type & 255, 0, 1])]);
}

const query = (name: string, type?: number) =>
  queryBytes(
    name.split(".").map((label) => Buffer.from(label)),
    type,
  );

test("a query is answered with its question as it was asked, and one address", () => {
  const reading = readQuery(query("Web.Example.COM"));
  if (reading.kind !== "query") return expect.fail(reading.kind);
  expect(reading.query).toMatchObject({ id: 7, name: "web.example.com", type: addressType });
  const answer = writeAnswer(reading.query, { kind: "address", address: "198.19.1.2" });
  expect(answer.toString("latin1")).toContain("\x03Web\x07Example\x03COM\0");
  expect([answer.readUInt16BE(2) & 15, answer.readUInt16BE(6)]).toEqual([0, 1]);
  expect([...answer.subarray(-4)]).toEqual([198, 19, 1, 2]);
  const refused = writeAnswer(reading.query, { kind: "no-such-name" });
  expect([refused.readUInt16BE(2) & 15, refused.readUInt16BE(6)]).toEqual([3, 0]);
});

test("compressed, cut off and overlong names, and other questions than one, are invalid; answers are ignored", () => {
  const plain = query("a.example");
  const changed = (at: number, byte: number) => {
    const bytes = Buffer.from(plain);
    bytes[at] = byte;
    return readQuery(bytes).kind;
  };
  expect(changed(12, 0xc0)).toBe("invalid");
  expect(changed(5, 2)).toBe("invalid");
  expect(changed(2, 0x81)).toBe("ignored");
  expect(changed(2, 0x29)).toBe("invalid");
  expect(readQuery(plain.subarray(0, -3)).kind).toBe("invalid");
  expect(readQuery(plain.subarray(0, 11)).kind).toBe("ignored");
  expect(readQuery(queryBytes(Array(5).fill(Buffer.alloc(63, "x")))).kind).toBe("invalid");
});

test("whatever bytes come, they are read without an error, and answers are never longer than the query and one record", () => {
  const labels = fc.array(fc.uint8Array({ minLength: 1, maxLength: 70 }), { maxLength: 6 });
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map(Buffer.from),
    fc.tuple(labels, fc.nat(65_535)).map(([parts, type]) => queryBytes(parts.map(Buffer.from), type)),
  );
  fc.assert(
    fc.property(bytes, (received) => {
      const reading = readQuery(received);
      if (reading.kind !== "query") return;
      expect(reading.query.name).toMatch(/^[a-z0-9_.\\-]*$/);
      const answer = writeAnswer(reading.query, { kind: "address", address: "198.19.1.2" });
      expect(answer.length).toBeLessThanOrEqual(received.length + 16);
    }),
    fuzzRuns,
  );
});

test("a name keeps its address; beyond the limit the one that was looked up least recently goes, unless it has a connection", () => {
  const names = openAssignedNames(3);
  const [a, b] = [names.assign("a.example") ?? "", names.assign("b.example") ?? ""];
  const release = names.hold("a.example");
  names.assign("c.example");
  expect(names.assign("b.example")).toBe(b);
  const d = names.assign("d.example") ?? "";
  expect(names.find("c.example")).toBeUndefined();
  expect([a, b, d].map(names.nameOf)).toEqual(["a.example", "b.example", "d.example"]);
  names.hold("b.example");
  names.hold("d.example");
  expect(names.assign("e.example")).toBeUndefined();
  release();
  const e = names.assign("e.example") ?? "";
  expect(names.nameOf(a)).toBeUndefined();
  expect(new Set([a, b, d, e]).size).toBe(4);
});

test("a hundred thousand names take the place of a limited number", () => {
  const names = openAssignedNames();
  const addresses = Array.from({ length: 100_000 }, (_, index) => names.assign(`n${index}.example`) ?? "");
  expect(addresses.every((address) => /^198\.19\.\d+\.\d+$/.test(address))).toBe(true);
  expect(addresses.filter((address, index) => names.nameOf(address) === `n${index}.example`)).toHaveLength(4096);
});

let closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers) close();
  closers = [];
});

/** The host's end, and a bridge that sends what it wants. */
function openHost(allowed: string[], denied: string[] = []) {
  const [inside, outside] = duplexPair() as [Duplex, Duplex];
  const [denials, resolved]: [Denial[], string[]] = [[], []];
  const proxy = openEgressProxy({
    rules: readRules(allowed, denied),
    onDenied: (denial) => void denials.push(denial),
    async resolve(name) {
      resolved.push(name);
      return [{ address: "127.0.0.1" }];
    },
  });
  proxy.serveBridge(outside);
  const bridge = openMultiplexer({ stream: inside, onChannel: (_kind, channel) => void channel.resume().end("") });
  closers.push(() => inside.destroy());
  const open = (kind: number, detail: Buffer) => {
    const channel = bridge.open(kind, detail);
    channel.on("error", () => {});
    return channel;
  };
  return {
    denials,
    resolved,
    ports: proxy.ports,
    /** What the host answers to a lookup. */
    async lookUp(name: string, process = ""): Promise<number | undefined> {
      const channel = open(lookupKind, Buffer.from(name, "latin1"));
      channel.end(process);
      return Buffer.from(await text(channel).catch(() => ""))[0];
    },
    async connect(detail: Buffer, bytes: string): Promise<string> {
      const channel = open(connectionKind, detail);
      channel.write(bytes);
      return text(channel).catch(() => "");
    },
  };
}

const detailOf = (name: string, port: number) =>
  Buffer.concat([Buffer.from([0, 1, port >> 8, port & 255]), Buffer.from(name, "latin1")]);

async function serve(): Promise<number> {
  const server: Server = createServer((request, response) => response.end(`served ${request.headers.host}`));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((settle) => server.listen(0, "127.0.0.1", settle));
  return (server.address() as { port: number }).port;
}

const get = (host: string) => `GET / HTTP/1.0\r\nHost: ${host}\r\n\r\n`;

test("a lookup says whether the name is allowed on any port, and resolves nothing", async () => {
  const host = openHost(["web.example:8443", "*.example.net"], ["bad.example.net", "half.example.net:80"]);
  const answers = await Promise.all(
    ["web.example", "a.example.net", "half.example.net", "bad.example.net", "evil.example", "intranet", "10.0.0.1"].map(
      (name) => host.lookUp(name, "curl (7)"),
    ),
  );
  expect(answers).toEqual([1, 1, 1, 0, 0, 0, 0]);
  expect(host.resolved).toEqual([]);
  const recorded = host.denials.map((denial) => `${denial.host}:${denial.port} ${denial.rule} ${denial.process}`);
  expect(recorded.sort()).toEqual([
    "10.0.0.1:0 valid hosts and ports curl (7)",
    "bad.example.net:0 bad.example.net curl (7)",
    "evil.example:0 allowed_domains curl (7)",
    "intranet:0 names with a domain curl (7)",
  ]);
  expect(host.ports).toEqual(expect.arrayContaining([8443, 80, 443, 22]));
});

test("a name that is none is recorded without signs that terminals obey", async () => {
  const host = openHost(["web.example"]);
  expect(await host.lookUp("\x1b[2Jweb.example\r\n\x9b31m\0", "\x1b[31mcurl (7)")).toBe(0);
  expect(host.denials).toMatchObject([
    {
      host: "?[2Jweb.example???31m?",
      reason: '"?[2Jweb.example???31m?" is not the name of a host.',
      process: "[31mcurl (7)",
    },
  ]);
});

test("a connection is decided anew, whatever was looked up: by name, by port and by address", async () => {
  const port = await serve();
  const host = openHost([`web.example:${port}`, `private.example:${port + 1}`, `127.0.0.1:${port}`]);
  expect(await host.connect(detailOf("web.example", port), get("web.example"))).toContain("served web.example");
  expect(host.denials).toEqual([]);
  for (const [name, to] of [
    ["evil.example", port],
    ["web.example", 22],
    ["private.example", port + 1],
    ["127.0.0.1", port],
    ["web.example:80@", port],
  ] as const)
    expect(await host.connect(detailOf(name, to), get("web.example"))).toBe("");
  expect(await host.connect(detailOf("web.example", port), get("other.example"))).toBe("");
  expect(host.denials.map(({ host: name, rule }) => `${name} ${rule}`)).toEqual([
    "evil.example allowed_domains",
    "web.example allowed_domains",
    "private.example no private addresses",
    "web.example one host for each connection",
  ]);
});

test("whatever a bridge sends as a lookup or a connection, the host goes on", async () => {
  const port = await serve();
  const host = openHost([`web.example:${port}`, `127.0.0.1:${port}`]);
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }).map(Buffer.from), async (bytes) => {
      expect(await host.lookUp(bytes.toString("latin1"))).not.toBe(1);
      expect(await host.connect(bytes, "x")).toBe("");
    }),
    fuzzRuns,
  );
  expect(host.resolved).toEqual([]);
  expect(await host.connect(detailOf("web.example", port), get("web.example"))).toContain("served");
});

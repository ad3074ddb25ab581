// The host that a client asks for in its first bytes, read as they come; with the real client of Node.

import { PassThrough } from "node:stream";
import { connect } from "node:tls";
import { expect, test } from "vitest";
import { type FirstBytes, readFirstBytes } from "../../src/egress/first-bytes.ts";
import { mismatch } from "../../src/egress/tunnel.ts";

/** What a TLS client sends first. */
function clientHello(servername: string): Promise<Buffer> {
  const socket = new PassThrough();
  return new Promise((resolve) => {
    const sent: Buffer[] = [];
    socket.write = ((data: Buffer, encoding: unknown, done?: () => void) => {
      sent.push(Buffer.from(data));
      resolve(Buffer.concat(sent));
      (typeof encoding === "function" ? (encoding as () => void) : done)?.();
      return true;
    }) as typeof socket.write;
    connect({ socket, servername }).on("error", () => {});
  });
}

test("the name in a TLS handshake is read once all of it is there, also when it comes byte by byte or in several records", async () => {
  const hello = await clientHello("shop.example");
  for (let length = 0; length < hello.length; length += 1)
    expect(readFirstBytes(hello.subarray(0, length))).toEqual({ kind: "part" });
  expect(readFirstBytes(hello)).toEqual({ kind: "tls", name: "shop.example" });
  const [first, second] = [hello.subarray(5, 60), hello.subarray(60)];
  const record = (body: Buffer) => Buffer.concat([Buffer.of(22, 3, 1, body.length >> 8, body.length & 255), body]);
  expect(readFirstBytes(Buffer.concat([record(first), record(second)]))).toEqual({ kind: "tls", name: "shop.example" });
});

test("a handshake with a wrong length anywhere is invalid or names no other host", async () => {
  const hello = await clientHello("shop.example");
  for (let at = 0; at < hello.length; at += 1) {
    const changed = Buffer.from(hello);
    changed[at] = (changed[at] ?? 0) ^ 0xff;
    expect(["part", "tls", "http", "invalid", "other"]).toContain(readFirstBytes(changed).kind);
  }
});

test.each<[string, FirstBytes["kind"]]>([
  ["GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", "http"],
  ["GET / HTTP/1.1\r\nHost: a.example\r\n", "part"],
  ["GET / HTTP/1.1\r\nHost: a.example\r\nhost: b.example\r\n\r\n", "invalid"],
  ["GET / HTTP/1.1\nHost: b.example\n\n\r\n", "invalid"],
  ["GET / HTTP/1.1\r\nX: y\nHost: b.example\r\nHost: a.example\r\n\r\n", "invalid"],
  ["\r\n\nGET / HTTP/1.1\r\nHost: b.example\r\n\r\n", "http"],
  ["get / http/1.1\r\nHost: b.example\r\n\r\n", "http"],
  ["M-SEARCH * HTTP/1.1\r\nHost: b.example\r\n\r\n", "http"],
  ["*1\r\n$4\r\nPING\r\n", "other"],
  ["AMQP\0\0\t\u0001", "other"],
  ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "http2"],
  ["SSH-2.0-OpenSSH_9\r\n", "other"],
  ["EHLO mail\r\n", "other"],
])("%j is read as %s", (text, kind) => {
  expect(readFirstBytes(Buffer.from(text)).kind).toBe(kind);
});

test("a connection is refused if it asks for another host than it was allowed to", () => {
  const target = { host: { kind: "name", name: "shop.example" }, port: 443 } as const;
  expect(mismatch({ kind: "tls", name: "SHOP.example" }, target)).toBeNull();
  expect(mismatch({ kind: "tls", name: "evil.example" }, target)).toContain('"evil.example" (SNI)');
  expect(mismatch({ kind: "http", host: "shop.example:443" }, target)).toBeNull();
  expect(mismatch({ kind: "http", host: "evil.example" }, target)).toContain("Host header");
});

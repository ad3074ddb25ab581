// The SOCKS5 side of the proxy: no authentication, CONNECT only.
import type { Duplex } from "node:stream";
import type { Dial, DialResult } from "./dial.ts";
import { readGreeting, readRequest, type SocksReading } from "./socks-messages.ts";
import type { Tunnel } from "./tunnel.ts";

const version = 5;
const noAuthentication = 0;
const noneAcceptable = 0xff;
const replies = { succeeded: 0, failed: 1, notAllowed: 2, unreachable: 4, commandNotSupported: 7, badAddress: 8 };

export interface SocksOptions {
  dial: Dial;
  /** Connects both sides of a tunnel. */
  join(tunnel: Tunnel): void;
}

export async function serveSocks(connection: Duplex, { dial, join }: SocksOptions): Promise<void> {
  const stop = new AbortController();
  connection.on("error", () => {});
  connection.once("close", () => stop.abort());
  const methods = await receive(connection, readGreeting);
  if (methods === undefined) return void connection.destroy();
  if (!methods.includes(noAuthentication)) return void connection.end(Buffer.of(version, noneAcceptable));
  connection.write(Buffer.of(version, noAuthentication));
  const request = await receive(connection, readRequest);
  if (request === undefined) return void connection.destroy();
  if (request.kind === "not-connect") return void connection.end(reply(replies.commandNotSupported));
  if (request.kind === "no-host") return void connection.end(reply(replies.badAddress));
  const result = await dial(request.target, stop.signal);
  if (result.kind !== "connected") return void connection.end(reply(replyCode(result)));
  if (connection.destroyed) return void result.socket.destroy();
  connection.write(reply(replies.succeeded));
  join({ client: connection, socket: result.socket, target: request.target });
}

const replyCode = (result: Exclude<DialResult, { kind: "connected" }>): number =>
  result.kind === "denied" ? replies.notAllowed : replies.unreachable;

/** The bound address is not disclosed: 0.0.0.0:0. */
const reply = (code: number): Buffer => Buffer.of(version, code, 0, 1, 0, 0, 0, 0, 0, 0);

/** The next message, with the bytes after it put back; undefined when the stream ends or is invalid. */
function receive<Message>(
  connection: Duplex,
  read: (bytes: Buffer) => SocksReading<Message>,
): Promise<Message | undefined> {
  let bytes = Buffer.alloc(0);
  return new Promise((resolve) => {
    const settle = (message: Message | undefined, length: number) => {
      connection.off("data", take);
      connection.off("close", giveUp);
      connection.off("end", giveUp);
      connection.pause();
      if (length < bytes.length) connection.unshift(bytes.subarray(length));
      resolve(message);
    };
    const giveUp = () => settle(undefined, bytes.length);
    const take = (data: Buffer) => {
      bytes = Buffer.concat([bytes, data]);
      const reading = read(bytes);
      if (reading.kind === "bad") giveUp();
      if (reading.kind === "whole") settle(reading.message, reading.length);
    };
    connection.on("data", take);
    connection.on("end", giveUp);
    connection.on("close", giveUp);
    connection.resume();
  });
}

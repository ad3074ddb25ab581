// Requests for a WebSocket: answered as any other, with the same limits and errors; those that a route accepts are taken over.
import { type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { isAnswering } from "@agentcli/workspace/http";
import type { Context } from "hono";
import { actingAs } from "../db/index.ts";
import { alreadySent } from "./already-sent.ts";
import { ambiguityOf } from "./ambiguous.ts";
import type { Env } from "./env.ts";
import type { HostHandler, TakeSocket } from "./route.ts";

interface Upgrade {
  stream: Duplex;
  head: Buffer;
}

const upgrades = new WeakMap<IncomingMessage, Upgrade>();

export function acceptUpgrades(server: Server, hosts: HostHandler[]): void {
  server.on("upgrade", (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    stream.on("error", () => stream.destroy());
    if (isAnswering(stream, request)) return void stream.destroy();
    const other = ambiguityOf(request) === null && hosts.find(({ matches }) => matches(request.headers.host));
    if (other) return other.upgrade(request, stream, head);
    if (request.headers.upgrade?.toLowerCase() === "websocket") upgrades.set(request, { stream, head });
    answerAsRequest(server, request, stream as Socket);
  });
}

/** Clients offer other protocols too, such as h2c; a server need not take them. A body was not read, so none can be sent. */
function answerAsRequest(server: Server, request: IncomingMessage, socket: Socket): void {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.on("finish", () => endAnswered(socket));
  server.emit("request", request, response);
}

const lingerMs = 1_000;

/**
 * After an answer that is not a WebSocket. Nothing reads the connection any more, so that its other end would never be
 * noticed; it is not destroyed at once, because the client may not have read the answer yet.
 */
export function endAnswered(stream: Duplex): void {
  stream.end();
  stream.resume();
  const timer = setTimeout(() => stream.destroy(), lingerMs);
  stream.once("close", () => clearTimeout(timer));
}

export const isUpgrade = ({ env }: Context<Env>): boolean => upgrades.has(env.incoming);

/** The request has been admitted and ends with its connection; what it held for its duration others can have. */
export function takeOver(context: Context<Env>, take: TakeSocket): Response {
  const { incoming, outgoing } = context.env;
  const upgrade = upgrades.get(incoming);
  if (upgrade === undefined || !("detachSocket" in outgoing)) throw new Error("not a request for a WebSocket");
  const { stream, head } = upgrade;
  for (const release of context.get("slots").splice(0)) release();
  outgoing.detachSocket(stream as Socket);
  outgoing.statusCode = 101;
  stream.once("close", () => outgoing.emit("close"));
  // No query of the connection belongs to a request any more.
  actingAs("platform", () => take(incoming, stream, head));
  return alreadySent();
}

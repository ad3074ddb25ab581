// Requests that only another server of the database can answer, because it drives the run or holds the connection of the
// worker: they are sent to the address that it advertises, with the credential of their client, and never a second time.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Context } from "hono";
import type { Kysely } from "kysely";
import { listNodes, type Tables } from "../db/index.ts";
import { ApiError, alreadySent, type Env } from "../http/index.ts";
import type { Log } from "../telemetry/index.ts";
import { type ForwardedRequest, proofHeader, readProof, writeProof } from "./proof.ts";
import { addressFrom } from "./reachable-url.ts";
import { sendRequest, sendUpgrade, type Target } from "./send.ts";

export interface Forwarding {
  /** Null for a request of a client. Throws ApiError `unauthorized` for one that only claims to be forwarded. */
  forwarded(request: IncomingMessage): ForwardedRequest | null;
  /** A request of the API whose body was read. Throws ApiError `unavailable`. */
  call(context: Context<Env>, body: Buffer, nodeId: string): Promise<Response>;
  /** A request that no route has read. Throws ApiError `unavailable`. */
  request(sent: { request: IncomingMessage; response: ServerResponse }, nodeId: string): Promise<void>;
  /** A request for a WebSocket. Throws ApiError `unavailable`. */
  socket(sent: ForwardedSocket, nodeId: string): Promise<void>;
  /** Ends those under way. */
  close(): void;
}

export interface ForwardedSocket {
  request: IncomingMessage;
  stream: Duplex;
  head: Buffer;
  of: "preview" | "worker";
}

type Kind = "request" | ForwardedSocket["of"];

export interface ForwardingOptions {
  db: Kysely<Tables>;
  nodeId: string;
  /** The servers of the database have it in common. */
  key: Buffer;
  log: Log;
  now(): Date;
  /** Of the client, as limits count it. */
  clientAddress(request: IncomingMessage): string;
}

/** At once; each keeps two connections open. Workers stay connected, and must leave room for what is short. */
const maxForwarded: Record<Kind, number> = { request: 1_000, preview: 1_000, worker: 10_000 };
/** Of a route: reading a terminal takes ten seconds at most. */
const answerTimeoutMs = 60_000;

export function openForwarding(options: ForwardingOptions): Forwarding {
  const { db, nodeId: own, log, clientAddress } = options;
  const underWay = new Map<Duplex | ServerResponse, Kind>();

  async function send(
    nodeId: string,
    sent: { request: IncomingMessage; until: Duplex | ServerResponse; kind: Kind },
    act: (target: Omit<Target, "answerTimeoutMs">) => Promise<void>,
  ): Promise<void> {
    const { request, until, kind } = sent;
    if (Array.from(underWay.values()).filter((other) => other === kind).length >= maxForwarded[kind])
      throw new ApiError("unavailable", "This server forwards too many requests already. Try again.", {
        retryAfter: 1,
      });
    // A client that has gone while its request was authenticated: its "close" comes no more.
    if (until.closed || until.destroyed) throw new ApiError("unavailable", "The client has closed its connection.");
    underWay.set(until, kind);
    until.once("close", () => underWay.delete(until));
    const url = await addressOf(db, nodeId);
    const proof = writeProof(options, request, { from: own, to: nodeId, clientAddress: clientAddress(request) });
    await act({ url, headers: { [proofHeader]: proof } }).catch((error: Error) => {
      log.warn("request.not_forwarded", { to: nodeId, url, reason: error.message });
      throw unreachable(nodeId, "it does not answer");
    });
  }

  return {
    forwarded: (request) => proofOf(options, request),
    async call(context, body, nodeId) {
      const { incoming: request, outgoing: response } = context.env;
      const requestId = context.get("requestId");
      await send(nodeId, { request, until: response as ServerResponse, kind: "request" }, ({ url, headers }) =>
        sendRequest(
          { request, response: response as ServerResponse, body },
          { url, headers: { ...headers, "x-request-id": requestId }, answerTimeoutMs },
        ),
      );
      return alreadySent();
    },
    request: ({ request, response }, nodeId) =>
      send(nodeId, { request, until: response, kind: "request" }, (target) =>
        sendRequest({ request, response }, { ...target, answerTimeoutMs: null }),
      ),
    socket: ({ request, stream, head, of }, nodeId) =>
      send(nodeId, { request, until: stream, kind: of }, (target) =>
        sendUpgrade({ request, stream, head }, { ...target, answerTimeoutMs }),
      ),
    close() {
      for (const each of underWay.keys()) each.destroy();
    },
  };
}

function proofOf(options: ForwardingOptions, request: IncomingMessage): ForwardedRequest | null {
  const proof = readProof(options, request, options.nodeId);
  if (proof !== "invalid") return proof;
  throw new ApiError("unauthorized", `The header ${proofHeader} is not from a server of this platform. Leave it out.`);
}

/** Throws ApiError `unavailable`, which names the server. */
async function addressOf(db: Kysely<Tables>, nodeId: string): Promise<string> {
  const node = (await listNodes(db)).find(({ id }) => id === nodeId);
  if (node === undefined) throw unreachable(nodeId, "no server has this id");
  if (!node.isRunning) throw unreachable(nodeId, "it does not run any more");
  if (node.address === null) throw unreachable(nodeId, "it has advertised no address, as older versions do not");
  const address = addressFrom(node.address);
  if (address === null)
    throw unreachable(nodeId, "it listens on an address of its own machine alone. Set internal_url there");
  return address;
}

const unreachable = (nodeId: string, reason: string): ApiError =>
  new ApiError(
    "unavailable",
    `The server ${nodeId.slice(0, 100)} has to answer this, and could not be reached: ${reason}. Try again; if it persists, check internal_url of that server.`,
    { retryAfter: 2 },
  );

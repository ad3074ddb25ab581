// Many clients over WebSocket, on a port or on a socket file: one JSON object per text frame.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { CommandError } from "@agentcli/command-line";
import { identifyFilePeer, identifyPeer, type Peer } from "@agentcli/workspace";
import type { WebSocket } from "ws";
import type { Link } from "../dispatch/outbox.ts";
import type { AppServer } from "../server.ts";
import { aborted } from "../waiting.ts";
import type { Access } from "./access.ts";
import type { Address } from "./address.ts";
import { openSocketFile } from "./socket-file.ts";
import { maxMessageBytes } from "./stdio.ts";

export interface WebSocketOptions {
  address: Extract<Address, { kind: "tcp" | "unix" }>;
  access: Access | null;
  /** Called with the address once the server listens. */
  onListening(where: string): void;
  signal: AbortSignal;
}

/** How long a client may take for its request: a process that can connect could hold connections otherwise. */
const headersMs = 10_000;

/** Settles when the program is stopped and no client can connect any more. */
export async function serveWebSocket(server: AppServer, options: WebSocketOptions): Promise<void> {
  const { WebSocketServer } = await import("ws");
  const sockets = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes, perMessageDeflate: false });
  const http = createServer({ headersTimeout: headersMs, connectionsCheckingInterval: headersMs / 2 }, answerPlain);
  const peers = new WeakMap<Socket, Promise<Peer>>();
  // While the process that connected is known to be there: on older kernels, another one may have its number later.
  if (options.address.kind === "unix")
    http.on("connection", (socket: Socket) => peers.set(socket, identifyFilePeer(descriptorOf(socket))));
  const peerOf = (socket: Socket) => peers.get(socket) ?? identifyPeer(socket);
  http.on("upgrade", async (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    stream.on("error", () => stream.destroy());
    const refusal = refusalOf(request, options.access) ?? refusalOfPeer(await peerOf(request.socket), options.address);
    if (refusal) return refuseUpgrade(stream, refusal);
    sockets.handleUpgrade(request, stream, head, (socket) => join(server, socket));
  });
  const { where, close } = await listen(http, options.address);
  try {
    options.onListening(where);
    await aborted(options.signal);
  } finally {
    close();
  }
}

function join(server: AppServer, socket: WebSocket): void {
  const link: Link = {
    send: (text, taken) => socket.send(text, () => taken()),
    close: (reason) => goodbye(socket, reason),
    whenFull: "disconnect",
  };
  const connection = server.connect(link);
  socket.on("message", (data, isBinary) => {
    if (!isBinary) connection.receive(String(data));
  });
  socket.on("error", (error) => connection.end(error.message));
  socket.on("close", () => connection.end("it closed the connection"));
}

const goodbyeMs = 1000;

/** A client that reads nothing would never answer the closing frame. */
function goodbye(socket: WebSocket, reason: string): void {
  socket.close(1001, reason.slice(0, 100));
  const timer = setTimeout(() => socket.terminate(), goodbyeMs);
  timer.unref();
  socket.once("close", () => clearTimeout(timer));
}

interface Refusal {
  status: number;
  text: string;
}

/** A browser sends the origin of the page; no page may connect. */
function refusalOf({ headers }: IncomingMessage, access: Access | null): Refusal | null {
  if (headers.origin !== undefined) return { status: 403, text: "Requests from web pages are refused." };
  const bearer = /^Bearer\s+(\S+)\s*$/i.exec(headers.authorization ?? "")?.[1] ?? null;
  const reason = access?.(bearer) ?? null;
  return reason === null ? null : { status: 401, text: reason };
}

/** No token admits a sandboxed command: it would leave its sandbox by asking this server. */
function refusalOfPeer(peer: Peer, { kind }: WebSocketOptions["address"]): Refusal | null {
  if (peer === "unconfined") return null;
  if (peer === "sandboxed") return { status: 403, text: "Sandboxed processes must not connect to this server." };
  const advice = kind === "tcp" ? "Use a socket file: --listen unix://PATH." : "It must not end before it is answered.";
  return { status: 403, text: `The process that connects cannot be identified. ${advice}` };
}

/** Node has no other way to learn it. */
const descriptorOf = (socket: Socket): number | undefined =>
  (socket as Socket & { _handle?: { fd?: number } })._handle?.fd;

function answerPlain({ headers, url = "", method }: IncomingMessage, response: ServerResponse): void {
  const isProbe = ["/readyz", "/healthz"].includes(url.split("?")[0] ?? "");
  if (headers.origin !== undefined) response.writeHead(403).end("Requests from web pages are refused.\n");
  else if (isProbe && (method === "GET" || method === "HEAD")) response.writeHead(200).end();
  else response.writeHead(426, { upgrade: "websocket" }).end("This address speaks WebSocket.\n");
}

function refuseUpgrade(stream: Duplex, { status, text }: Refusal): void {
  const words = status === 401 ? "Unauthorized" : "Forbidden";
  const body = `${text}\n`;
  const head = [`HTTP/1.1 ${status} ${words}`, "Connection: close", "Content-Type: text/plain"];
  stream.end([...head, `Content-Length: ${Buffer.byteLength(body)}`, "", body].join("\r\n"));
  // One that never closes its end would keep the descriptor.
  const timer = setTimeout(() => stream.destroy(), goodbyeMs);
  stream.resume().once("close", () => clearTimeout(timer));
}

interface Listener {
  where: string;
  close(): void;
}

async function listen(http: Server, address: WebSocketOptions["address"]): Promise<Listener> {
  if (address.kind === "unix") return listenOnFile(http, address.path);
  await listening(http, () => http.listen(address.port, address.host), `ws://${address.host}:${address.port}`);
  const { port, address: host, family } = http.address() as AddressInfo;
  return { where: `ws://${family === "IPv6" ? `[${host}]` : host}:${port}`, close: () => http.close() };
}

async function listenOnFile(http: Server, path: string): Promise<Listener> {
  const file = await openSocketFile(path);
  const close = () => {
    http.close();
    file.remove();
  };
  try {
    await listening(http, () => file.bind(http), path);
    file.publish();
    return { where: `unix://${path}`, close };
  } catch (error) {
    close();
    throw error;
  }
}

function listening(http: Server, begin: () => void, where: string): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once("error", (error) => reject(new CommandError("usage", `Cannot listen on ${where}: ${error.message}.`)));
    http.once("listening", resolve);
    begin();
  });
}

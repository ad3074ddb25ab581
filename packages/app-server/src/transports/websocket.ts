// Many clients over WebSocket, on a port or on a socket file: one JSON object per text frame.
import { chmodSync, lstatSync, mkdirSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { dirname } from "node:path";
import type { Duplex } from "node:stream";
import { CommandError } from "@agentcli/command-line";
import { identifyFilePeer, identifyPeer } from "@agentcli/workspace";
import type { WebSocket } from "ws";
import type { Link } from "../dispatch/outbox.ts";
import type { AppServer } from "../server.ts";
import { aborted } from "../waiting.ts";
import type { Access } from "./access.ts";
import type { Address } from "./address.ts";
import { maxMessageBytes } from "./stdio.ts";

export interface WebSocketOptions {
  address: Extract<Address, { kind: "tcp" | "unix" }>;
  access: Access | null;
  /** Called with the address once the server listens. */
  onListening(where: string): void;
  signal: AbortSignal;
}

/** Settles when the program is stopped and no client can connect any more. */
export async function serveWebSocket(server: AppServer, options: WebSocketOptions): Promise<void> {
  const { WebSocketServer } = await import("ws");
  const sockets = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes, perMessageDeflate: false });
  const http = createServer(answerPlain);
  http.on("upgrade", async (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    stream.on("error", () => stream.destroy());
    const refusal = refusalOf(request, options.access) ?? (await refusalOfPeer(request.socket, options.address));
    if (refusal) return refuseUpgrade(stream, refusal);
    sockets.handleUpgrade(request, stream, head, (socket) => join(server, socket));
  });
  try {
    options.onListening(await listen(http, options.address));
    await aborted(options.signal);
  } finally {
    http.close();
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

/** A client that reads nothing would never answer the closing frame. */
function goodbye(socket: WebSocket, reason: string): void {
  socket.close(1001, reason.slice(0, 100));
  const timer = setTimeout(() => socket.terminate(), 1000);
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
async function refusalOfPeer(socket: Socket, { kind }: WebSocketOptions["address"]): Promise<Refusal | null> {
  const peer = await (kind === "tcp" ? identifyPeer(socket) : identifyFilePeer(descriptorOf(socket)));
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
}

async function listen(http: Server, address: WebSocketOptions["address"]): Promise<string> {
  if (address.kind === "unix") return listenOnFile(http, address.path);
  await listening(http, () => http.listen(address.port, address.host), `ws://${address.host}:${address.port}`);
  const { port, address: host, family } = http.address() as AddressInfo;
  return `ws://${family === "IPv6" ? `[${host}]` : host}:${port}`;
}

async function listenOnFile(http: Server, path: string): Promise<string> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  refuseOtherFile(path);
  if (await isAnswered(path))
    throw new CommandError("usage", `Another server listens on ${path}. End it, or name another path.`);
  removeSocket(path);
  await listening(http, () => listenPrivately(http, path), path);
  chmodSync(path, 0o600);
  return `unix://${path}`;
}

/** The umask is set while the file is created: no other user can connect before its mode is set. */
function listenPrivately(http: Server, path: string): void {
  const mask = process.umask(0o177);
  try {
    http.listen(path);
  } finally {
    process.umask(mask);
  }
}

/** That of a server that died. */
function removeSocket(path: string): void {
  refuseOtherFile(path);
  rmSync(path, { force: true });
}

function refuseOtherFile(path: string): void {
  const isOther = lstatSync(path, { throwIfNoEntry: false })?.isSocket() === false;
  if (isOther) throw new CommandError("usage", `${path} is not a socket. Name another path.`);
}

/** Whether a server listens there. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = connect(path);
    probe.on("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.on("error", (error: NodeJS.ErrnoException) => {
      const isFree = error.code === "ECONNREFUSED" || error.code === "ENOENT";
      if (isFree) resolve(false);
      else reject(new CommandError("usage", `${path} cannot be used: ${error.message}. Name another path.`));
    });
  });
}

function listening(http: Server, begin: () => void, where: string): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once("error", (error) => reject(new CommandError("usage", `Cannot listen on ${where}: ${error.message}.`)));
    http.once("listening", resolve);
    begin();
  });
}

// The HTTP side of the proxy: CONNECT for tunnels, absolute URLs for plain requests.
import { createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream";
import { inTurn, limitInterim, readStatusLine } from "../http/index.ts";
import type { Denial, DialResult } from "./dial.ts";
import { hostText, readTarget, type Target } from "./hosts.ts";
import { endToEnd, readAbsoluteUrl } from "./http-target.ts";
import type { Tunnel } from "./tunnel.ts";

export interface HttpProxy {
  serve(connection: Duplex): void;
}

export interface HttpProxyOptions {
  /** `connection` is that of the client that asks. */
  dial(target: Target, connection: Duplex, signal: AbortSignal): Promise<DialResult>;
  /** Connects both sides of a tunnel. */
  join(tunnel: Tunnel): void;
  onDenied(denial: Denial, connection: Duplex): void;
}

export function openHttpProxy({ dial, join, onDenied }: HttpProxyOptions): HttpProxy {
  // No request timeout: uploads may be slow.
  const server = createServer(
    { requestTimeout: 0 },
    inTurn((request, response) => {
      forward(request, response).catch((error: Error) => response.destroy(error));
    }),
  );
  server.on("connect", (request, connection, head) => {
    tunnel(request, connection, head).catch(() => connection.destroy());
  });
  server.on("clientError", (_error, connection) => refuseInvalid(connection));

  async function tunnel(request: IncomingMessage, connection: Duplex, head: Buffer): Promise<void> {
    connection.on("error", () => {});
    const target = readTarget(request.url ?? "");
    if (target === undefined) {
      const text = `Invalid host and port: "${request.url}".`;
      onDenied(invalidTarget(request.url ?? "", text), connection);
      return void connection.end(renderResponse({ status: 400, text }));
    }
    const result = await dial(target, connection, closing(connection));
    if (result.kind !== "connected") return void connection.end(renderResponse(responseFor(result)));
    if (connection.destroyed) return void result.socket.destroy();
    connection.write("HTTP/1.1 200 Connection established\r\n\r\n");
    if (head.length > 0) connection.unshift(head);
    join({ client: connection, socket: result.socket, target });
  }

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parsed = readAbsoluteUrl(request.url ?? "", request.rawHeaders);
    if (parsed.kind === "bad") {
      onDenied(invalidTarget(request.url ?? "", parsed.reason), request.socket);
      return refuse(response, { status: 400, text: parsed.reason });
    }
    if (parsed.kind === "mismatch") {
      const denial = mismatch(parsed.target, parsed.header);
      onDenied(denial, request.socket);
      return refuse(response, responseFor({ kind: "denied", denial }));
    }
    const result = await dial(parsed.target, request.socket, closing(response));
    if (result.kind !== "connected") return refuse(response, responseFor(result));
    const { socket } = result;
    const onward = send({
      createConnection: () => socket,
      method: request.method,
      path: parsed.path,
      headers: ["Host", parsed.authority, ...endToEnd(request.rawHeaders, ["host"])],
      setHost: false,
    });
    limitInterim(onward);
    response.once("close", () => socket.destroy());
    onward.once("error", (error) => refuse(response, responseFor({ kind: "failed", reason: error.message })));
    onward.once("close", () => response.headersSent || refuse(response, withoutResponse));
    onward.once("response", (answer) => passOn(answer, response));
    pipeline(request, onward, () => {});
  }

  return { serve: (connection) => void server.emit("connection", connection) };
}

function passOn(answer: IncomingMessage, response: ServerResponse): void {
  const status = readStatusLine(answer);
  if (status === null) return void answer.destroy();
  response.writeHead(status.code, status.reason, endToEnd(answer.rawHeaders, ["transfer-encoding"]));
  pipeline(answer, response, () => {});
}

function refuseInvalid(connection: Duplex): void {
  if (connection.writable) connection.end(renderResponse({ status: 400, text: "Invalid HTTP request." }));
}

function mismatch({ host, port }: Target, header: string): Denial {
  const reason = `The request names ${hostText(host)}:${port}, its Host header says ${header}.`;
  return { host: hostText(host), port, by: "policy", rule: "one host for each connection", reason };
}

/** Anything that two parsers could read differently is refused, and reported as it was written. */
const invalidTarget = (text: string, reason: string): Denial => ({
  host: text.slice(0, maxReported),
  port: 0,
  by: "policy",
  rule: "valid hosts and ports",
  reason,
});

const maxReported = 255;

interface ProxyResponse {
  status: number;
  text: string;
  /** Why it was blocked, for programs. */
  proxyError?: string;
}

function responseFor(result: Exclude<DialResult, { kind: "connected" }>): ProxyResponse {
  if (result.kind === "failed") return { status: 502, text: result.reason };
  const { by, reason } = result.denial;
  return { status: 403, text: `Blocked by the sandbox: ${reason}`, proxyError: `blocked-by-${by}` };
}

/** After 101 Node closes the connection without a response and without an error. */
const withoutResponse: ProxyResponse = { status: 502, text: "The server closed the connection without a response." };

function refuse(response: ServerResponse, refusal: ProxyResponse): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(refusal.status, { ...headersOf(refusal), connection: "close" });
  response.end(`${refusal.text}\n`);
}

const statusTexts: Record<number, string> = { 400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway" };

function renderResponse(response: ProxyResponse): string {
  const headers = {
    ...headersOf(response),
    "content-length": Buffer.byteLength(response.text) + 1,
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${response.status} ${statusTexts[response.status]}\r\n${lines.join("")}\r\n${response.text}\n`;
}

const headersOf = ({ proxyError }: ProxyResponse): Record<string, string> => ({
  "content-type": "text/plain; charset=utf-8",
  ...(proxyError && { "x-proxy-error": proxyError }),
});

function closing(stream: Duplex | ServerResponse): AbortSignal {
  const stop = new AbortController();
  stream.once("close", () => stop.abort());
  return stop.signal;
}

// Node's HTTP server around the API: plain or TLS, with bounded waits and an orderly end.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { inTurn } from "@agentcli/workspace/http";
import { getRequestListener, RequestError } from "@hono/node-server";
import type { Settings } from "../config/index.ts";
import { ambiguityOf } from "./ambiguous.ts";
import { answerError } from "./answers.ts";
import { ApiError } from "./api-error.ts";
import { type ConnectionLimits, limitConnections, noConnectionLimits } from "./connections.ts";
import type { Api } from "./route.ts";
import { acceptUpgrades } from "./sockets.ts";

export interface HttpServer {
  /** With the port it really has. */
  url: string;
  /** Takes no new requests, lets those under way end for a while, then cuts them off. */
  stop(): Promise<void>;
}

export async function listen(
  api: Api,
  { listen: wanted, tls }: Pick<Settings, "listen" | "tls">,
  limits: ConnectionLimits = noConnectionLimits,
): Promise<HttpServer> {
  const serveOwn = getRequestListener(api.app.fetch as Parameters<typeof getRequestListener>[0], {
    errorHandler: answerUnreadable,
    // For HTTP/1.0, as load balancers speak it who ask whether a server is ready: it needs no Host header.
    hostname: "localhost",
  }) as RequestListener;
  const serveRequest: RequestListener = (request, response) => {
    const problem = ambiguityOf(request);
    if (problem !== null) return refuseAmbiguous(response, problem);
    const other = api.hosts.find(({ matches }) => matches(request.headers.host));
    if (other) other.request(request, response);
    else serveOwn(request, response);
  };
  const server = openServer(inTurn(serveRequest), tls);
  server.on("clientError", answerGarbage);
  limitConnections(server, limits);
  acceptUpgrades(server, api.hosts);
  server.keepAliveTimeout = idleConnectionMs;
  server.listen(wanted.port, wanted.host);
  await once(server, "listening").catch((error: NodeJS.ErrnoException) => {
    const reason = reasons[error.code ?? ""] ?? error.message;
    error.message = `Cannot listen on ${wanted.host}:${wanted.port}: ${reason}. Choose another with --listen or PLATFORM_LISTEN.`;
    throw error;
  });
  const { port } = server.address() as AddressInfo;
  const host = wanted.host.includes(":") ? `[${wanted.host}]` : wanted.host;
  return { url: `${tls ? "https" : "http"}://${host}:${port}`, stop: () => stop(server) };
}

function refuseAmbiguous(response: ServerResponse, message: string): void {
  response.writeHead(400, {
    "content-type": "application/json",
    "x-request-id": randomUUID(),
    connection: "close",
  });
  response.end(JSON.stringify({ error: { code: "validation_error", message } }));
}

const reasons: Record<string, string> = {
  EADDRINUSE: "the address is in use, perhaps by an earlier start of this program",
  EADDRNOTAVAIL: "this machine has no such address",
  EACCES: "ports below 1024 are for root",
};

/** Longer than that of proxies, usually a minute: the side that sends requests must close first. */
const idleConnectionMs = 75_000;

function openServer(listener: RequestListener, tls: Settings["tls"]): Server {
  if (!tls) return createServer(listener);
  const key = readFileSync(tls.keyFile);
  const cert = readFileSync(tls.certificateFile);
  return createSecureServer({ key, cert, minVersion: "TLSv1.2" }, listener);
}

const shutdownTimeoutMs = 10_000;

async function stop(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  const deadline = setTimeout(() => server.closeAllConnections(), shutdownTimeoutMs);
  server.closeIdleConnections();
  await closed;
  clearTimeout(deadline);
}

/** A host or path of which no address can be made. Whatever else arrives here has not passed through the API. */
function answerUnreadable(error: unknown): Response {
  if (error instanceof RequestError)
    return answerError(new ApiError("validation_error", "The address of the request cannot be read."));
  return answerError(new ApiError("internal", "Internal error. Try again."));
}

/** What is not HTTP, or has headers without end, never becomes a request. */
function answerGarbage(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const isLong = error.code === "HPE_HEADER_OVERFLOW";
  const body = JSON.stringify({
    error: isLong
      ? { code: "payload_too_large", message: "The headers are too long." }
      : { code: "validation_error", message: "This is not HTTP." },
  });
  const status = isLong ? "413 Payload Too Large" : "400 Bad Request";
  const headers = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-request-id": randomUUID(),
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status}`, ...lines, "", body].join("\r\n"));
}

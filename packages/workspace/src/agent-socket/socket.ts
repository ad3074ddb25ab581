// Serves HTTP over the Unix socket of one agent. Who may connect is decided by the directory that it is in.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, closeSync, mkdirSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import { readMetadata, readTokenRequest, route } from "./request.ts";
import type { AgentSocket, AgentSocketOptions, AgentSocketService, SocketReply } from "./types.ts";

/** Of one agent: it keeps no other from its answers. */
const maxConnections = 8;
/** More are closed at once: each occupies a descriptor of the server. */
const maxOpenConnections = 32;
const maxBodyBytes = 4_096;
const socketName = "api.sock";

/** It takes the name over from the socket of an earlier owner, which ends without removing this one. */
export async function openAgentSocket(
  service: AgentSocketService,
  { directory, connectsFor }: AgentSocketOptions,
): Promise<AgentSocket> {
  const [directoryMode, socketMode] = connectsFor === "every-user" ? [0o755, 0o666] : [0o700, 0o600];
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, directoryMode);
  // The kernel takes addresses of sockets of 107 bytes, and the path of the directory may be longer.
  const descriptor = openSync(directory, "r");
  const server = serve(service);
  server.on("close", () => closeSync(descriptor));
  const temporary = `${randomBytes(6).toString("hex")}.new`;
  try {
    server.listen(`/proc/self/fd/${descriptor}/${temporary}`);
    await once(server, "listening");
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  const path = join(directory, socketName);
  chmodSync(join(directory, temporary), socketMode);
  renameSync(join(directory, temporary), path);
  const own = statSync(path).ino;
  return {
    close() {
      if (!server.listening) return;
      if (statSync(path, { throwIfNoEntry: false })?.ino === own) rmSync(path, { force: true });
      server.close();
      server.closeAllConnections();
    },
  };
}

function serve(service: AgentSocketService): Server {
  let connections = 0;
  // Connections that send nothing are closed after the time for a request, which is looked at in this interval.
  const server = createServer({ connectionsCheckingInterval: 1_000 }, (request, response) => {
    const answering = connections > maxConnections ? Promise.resolve(saturated) : answerTo(request, service);
    void answering.then((reply) => send(response, reply));
  });
  server.on("connection", (socket) => {
    connections += 1;
    socket.on("close", () => {
      connections -= 1;
    });
  });
  server.requestTimeout = 10_000;
  server.maxConnections = maxOpenConnections;
  return server;
}

const saturated: SocketReply = { status: 503, body: { error: "saturated" }, headers: { "retry-after": "1" } };

async function answerTo(request: IncomingMessage, service: AgentSocketService): Promise<SocketReply> {
  try {
    const { method = "", url = "", headers } = request;
    const type = headers["content-type"] ?? "";
    const { metadata, awsCredentials } = service;
    const has = { hasMetadata: metadata !== undefined, hasAwsCredentials: awsCredentials !== undefined };
    const routed = route({ method, url, type, ...has });
    if (routed.kind === "refused") return routed.reply;
    if (routed.kind === "token") return await answerToken(request, service);
    if (routed.kind === "aws-credentials") return (await awsCredentials?.()) ?? failed;
    const values = await metadata?.();
    return values instanceof Map ? readMetadata(values, routed.path) : (values ?? failed);
  } catch {
    return failed;
  }
}

const failed: SocketReply = { status: 500, body: { error: "host_error" } };

async function answerToken(request: IncomingMessage, { token }: AgentSocketService): Promise<SocketReply> {
  const body = await readBody(request);
  if (body === null) return { status: 413, body: { error: "body_too_large" } };
  const wanted = readTokenRequest(body);
  return "error" in wanted ? { status: 400, body: wanted } : token(wanted);
}

/** Null if it is too large. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > maxBodyBytes) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function send(response: ServerResponse, { status, body, headers = {} }: SocketReply): void {
  // What was not read of a request would be taken for the next one.
  const ends = status === 413 || status === 503 ? { connection: "close" } : {};
  const type = typeof body === "string" ? "text/plain; charset=utf-8" : "application/json";
  response.writeHead(status, { "content-type": type, "cache-control": "no-store", ...headers, ...ends });
  response.end(typeof body === "string" ? body : `${JSON.stringify(body)}\n`);
}

// The socket that gives the commands of an agent identity tokens (OIDC): HTTP over a Unix socket, one for each agent. The platform
// signs; this side checks what is asked, and never has a key.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import { type IdentityAnswerer, type IdentityReply, readTokenRequest } from "./identity-request.ts";

export interface IdentitySockets {
  /** The directory with `api.sock`, for the sandboxes of the agent. */
  open(agent: string): Promise<string>;
  close(agent: string): Promise<void>;
}

/** Of one agent: it keeps no other from its tokens. */
const maxConnections = 8;
const socketName = "api.sock";

export function openIdentitySockets(dataDirectory: string, answerer: IdentityAnswerer): IdentitySockets {
  const base = join(dataDirectory, "sockets");
  rmSync(base, { recursive: true, force: true });
  mkdirSync(base, { mode: 0o700 });
  const opened = new Map<string, Promise<{ server: Server; directory: string }>>();
  const listen = async (agent: string): Promise<{ server: Server; directory: string }> => {
    const directory = join(base, randomBytes(4).toString("hex"));
    mkdirSync(directory, { mode: 0o700 });
    // The kernel takes addresses of sockets of 107 bytes, and the path of the directory may be longer.
    const descriptor = openSync(directory, "r");
    let connections = 0;
    const server = createServer((request, response) => {
      const isSaturated = connections > maxConnections;
      void answerTo({ agent, request, answerer, isSaturated }).then((reply) => send(response, reply));
    });
    server.on("connection", (socket) => {
      connections += 1;
      socket.on("close", () => {
        connections -= 1;
      });
    });
    server.requestTimeout = 10_000;
    try {
      server.listen(`/proc/self/fd/${descriptor}/${socketName}`);
      await once(server, "listening");
    } catch (error) {
      closeSync(descriptor);
      rmSync(directory, { recursive: true, force: true });
      throw error;
    }
    server.on("close", () => closeSync(descriptor));
    return { server, directory };
  };
  return {
    async open(agent) {
      const opening = opened.get(agent) ?? listen(agent);
      opened.set(agent, opening);
      opening.catch(() => opened.delete(agent));
      return (await opening).directory;
    },
    async close(agent) {
      const open = await opened.get(agent)?.catch(() => undefined);
      opened.delete(agent);
      if (open === undefined) return;
      open.server.close();
      open.server.closeAllConnections();
      rmSync(open.directory, { recursive: true, force: true });
    },
  };
}

interface Asked {
  agent: string;
  request: IncomingMessage;
  answerer: IdentityAnswerer;
  isSaturated: boolean;
}

const tokenPath = "/v1/tokens/oidc";
const usage = `POST ${tokenPath} with {"aud": "…", "nonce"?: "…", "sub_claim"?: "team_id"} as application/json.`;
const maxBodyBytes = 4_096;

async function answerTo({ agent, request, answerer, isSaturated }: Asked): Promise<IdentityReply> {
  try {
    const refused = refusalOf(request, isSaturated);
    if (refused) return refused;
    const body = await readBody(request);
    if (body === null) return { status: 413, body: { error: "body_too_large" } };
    const wanted = readTokenRequest(body);
    return "error" in wanted ? { status: 400, body: wanted } : await answerer(agent, wanted);
  } catch {
    return { status: 500, body: { error: "host_error" } };
  }
}

function refusalOf({ method, url = "", headers }: IncomingMessage, isSaturated: boolean): IdentityReply | null {
  if (isSaturated) return { status: 503, body: { error: "saturated" }, headers: { "retry-after": "1" } };
  if (url.split("?")[0] !== tokenPath) return { status: 404, body: { error: "not_found", usage } };
  if (method !== "POST")
    return { status: 405, body: { error: "method_not_allowed", usage }, headers: { allow: "POST" } };
  const isJson = /^application\/json\s*(;|$)/i.test(headers["content-type"] ?? "");
  return isJson ? null : { status: 415, body: { error: "invalid_content_type" } };
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

function send(response: ServerResponse, { status, body, headers = {} }: IdentityReply): void {
  // What was not read of a request would be taken for the next one.
  const ends = status === 413 || status === 503 ? { connection: "close" } : {};
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store", ...headers, ...ends });
  response.end(`${JSON.stringify(body)}\n`);
}

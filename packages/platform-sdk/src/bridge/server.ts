// This package for other languages: JSON over HTTP and Server-Sent Events on loopback, for clients that have the token.
import { createHash, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { identifyPeer } from "@agentcli/workspace";
import {
  AgentBusyError,
  AgentNotFoundError,
  AuthenticationError,
  ConfigurationError,
  NetworkError,
  PlatformSdkError,
} from "../errors.ts";
import { followedOf, type Run } from "../run.ts";
import type { Method, Outcome, Params } from "./methods.ts";

export interface Bridge {
  port: number;
  close(): Promise<void>;
}

/** A prompt may have five images of 15 MB, as base64. */
const largestBody = 110 * 1024 * 1024;

export async function openBridge(methods: Map<string, Method>, token: string, port: number): Promise<Bridge> {
  const server = createServer((request, response) => {
    answer(request, response, methods, token).catch((error: unknown) => response.destroy(error as Error));
  });
  await once(server.listen(port, "127.0.0.1"), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  methods: Map<string, Method>,
  token: string,
): Promise<void> {
  const left = new AbortController();
  response.once("close", () => left.abort());
  try {
    if (!isAllowed(request.headers.authorization, token)) return refuse(response, 401, notAllowed);
    if ((await peerOf(request.socket)) !== "unconfined") return refuse(response, 403, sandboxed);
    const method = request.method === "POST" ? methods.get(request.url ?? "") : undefined;
    if (!method) return refuse(response, 404, notFound(request));
    await send(response, await method(await readParams(request), left.signal));
  } catch (error) {
    if (response.headersSent) throw error;
    const known = error instanceof PlatformSdkError ? error : unexpected(error);
    refuse(response, statusOf(known), known);
  }
}

/** Once for each connection. No token admits a sandboxed command: it would leave its sandbox through a local agent. */
function peerOf(socket: Socket): ReturnType<typeof identifyPeer> {
  const known = peers.get(socket) ?? identifyPeer(socket);
  peers.set(socket, known);
  return known;
}

const peers = new WeakMap<Socket, ReturnType<typeof identifyPeer>>();

/** Hashes have one length, so that the comparison tells nothing. */
function isAllowed(header: string | undefined, token: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(header ?? ""), hash(`Bearer ${token}`));
}

async function readParams(request: IncomingMessage): Promise<Params> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > largestBody) throw new ConfigurationError("The body is larger than 110 MiB.", { code: "too_large" });
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString("utf8");
  const params: unknown = text === "" ? {} : parsed(text);
  if (typeof params === "object" && params !== null && !Array.isArray(params)) return params as Params;
  throw new ConfigurationError("The body must be a JSON object.", { code: "invalid_json" });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function send(response: ServerResponse, outcome: Outcome): Promise<void> {
  if (outcome.kind === "stream") return sendStream(response, messagesOf(outcome.run));
  if (outcome.kind === "frames") return sendStream(response, framesOf(outcome.run));
  response.writeHead(200, {
    "content-type": outcome.kind === "bytes" ? "application/octet-stream" : "application/json",
  });
  if (outcome.kind === "bytes") response.end(outcome.bytes);
  else if (outcome.kind === "last") response.end("{}\n", outcome.afterwards);
  else response.end(`${JSON.stringify(outcome.value)}\n`);
}

type SentEvent = [event: string, data: unknown];

/** A reader that leaves ends the reading. */
async function sendStream(response: ServerResponse, events: AsyncGenerator<SentEvent>): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  for await (const [event, data] of events)
    if (!response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`))
      await Promise.race([once(response, "drain"), once(response, "close")]);
  response.end();
}

/** Messages as they come, then `result` or `error`. */
async function* messagesOf(run: Run): AsyncGenerator<SentEvent> {
  try {
    for await (const message of run.stream()) yield ["message", message];
    yield ["result", await run.wait()];
  } catch (error) {
    yield ["error", error instanceof PlatformSdkError ? error : unexpected(error)];
  }
}

/** Frames as the platform streams them; `ended` and `late` where it did not to the end, and `failed`. */
async function* framesOf(run: Run): AsyncGenerator<SentEvent> {
  try {
    for await (const event of followedOf(run))
      yield event.kind === "frame" ? [event.frame.event, event.frame.data] : [event.kind, event];
  } catch (error) {
    yield ["failed", error instanceof PlatformSdkError ? error : unexpected(error)];
  }
}

function refuse(response: ServerResponse, status: number, error: PlatformSdkError): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(`${JSON.stringify({ error })}\n`);
}

/** That of the platform where it answered; else the one it would have answered with. */
const statusOf = (error: PlatformSdkError): number =>
  error.status ?? statuses.find(([kind]) => error instanceof kind)?.[1] ?? 500;

const statuses: [new (message: string) => PlatformSdkError, number][] = [
  [NetworkError, 502],
  [AuthenticationError, 401],
  [AgentBusyError, 409],
  [AgentNotFoundError, 404],
  [ConfigurationError, 400],
];

const unexpected = (cause: unknown): PlatformSdkError =>
  new PlatformSdkError(`The bridge failed: ${cause instanceof Error ? cause.message : String(cause)}`, {
    code: "internal",
    cause,
  });

const notAllowed = new ConfigurationError(
  'Missing or invalid bridge token. Send "Authorization: Bearer TOKEN" with the token from the token file.',
  { code: "unauthorized" },
);

const sandboxed = new ConfigurationError(
  "The bridge refuses processes in a sandbox, and those that it cannot identify. Call it from a process outside.",
  { code: "sandboxed" },
);

const notFound = ({ method, url }: IncomingMessage): ConfigurationError =>
  new ConfigurationError(
    `${method} ${url} is not served here: POST /sdk.v1.SdkAgentService/…, see the documentation.`,
    {
      code: "not_found",
    },
  );

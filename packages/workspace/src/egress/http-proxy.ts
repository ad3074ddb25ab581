// The HTTP side of the proxy: CONNECT for tunnels, absolute addresses for plain requests.
import { createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream";
import { hostText, readTarget } from "./hosts.ts";
import { endToEnd, readAbsolute } from "./http-target.ts";
import { join } from "./join.ts";
import type { Denial, Reach, Reached } from "./reach.ts";

export interface HttpProxy {
  serve(connection: Duplex): void;
}

export interface HttpProxyOptions {
  reach: Reach;
  onDenied(denial: Denial): void;
}

export function openHttpProxy({ reach, onDenied }: HttpProxyOptions): HttpProxy {
  // No limit on how long a request may take: uploads are as slow as they are.
  const server = createServer({ requestTimeout: 0 }, (request, response) => {
    forward(request, response).catch((error: Error) => response.destroy(error));
  });
  server.on("connect", (request, connection, head) => {
    tunnel(request, connection, head).catch(() => connection.destroy());
  });
  server.on("clientError", (_error, connection) => {
    if (connection.writable) connection.end(wholeAnswer({ status: 400, text: "This is no HTTP request." }));
  });

  async function tunnel(request: IncomingMessage, connection: Duplex, head: Buffer): Promise<void> {
    connection.on("error", () => {});
    const target = readTarget(request.url ?? "");
    if (target === undefined) {
      const text = `"${request.url}" is no host and port this proxy can judge.`;
      return void connection.end(wholeAnswer({ status: 400, text }));
    }
    const reached = await reach(target, closing(connection));
    if (reached.kind !== "connected") return void connection.end(wholeAnswer(answerTo(reached)));
    if (connection.destroyed) return void reached.socket.destroy();
    connection.write("HTTP/1.1 200 Connection established\r\n\r\n");
    if (head.length > 0) reached.socket.write(head);
    join(connection, reached.socket);
  }

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = readAbsolute(request.url ?? "", request.rawHeaders);
    if (asked.kind === "bad") return refuse(response, { status: 400, text: asked.reason });
    if (asked.kind === "mismatch") {
      const { host, port } = asked.target;
      const reason = `The request names ${hostText(host)}:${port}, its Host header says ${asked.header}.`;
      const denial: Denial = { host: hostText(host), port, by: "policy", reason };
      onDenied(denial);
      return refuse(response, answerTo({ kind: "denied", denial }));
    }
    const reached = await reach(asked.target, closing(response));
    if (reached.kind !== "connected") return refuse(response, answerTo(reached));
    const { socket } = reached;
    const onward = send({
      createConnection: () => socket,
      method: request.method,
      path: asked.path,
      headers: ["Host", asked.authority, ...endToEnd(request.rawHeaders, ["host"])],
      setHost: false,
    });
    response.once("close", () => socket.destroy());
    onward.once("error", (error) => refuse(response, answerTo({ kind: "failed", reason: error.message })));
    onward.once("response", (answer) => {
      const headers = endToEnd(answer.rawHeaders, ["transfer-encoding"]);
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, headers);
      pipeline(answer, response, () => {});
    });
    pipeline(request, onward, () => {});
  }

  return { serve: (connection) => void server.emit("connection", connection) };
}

interface Answer {
  status: number;
  text: string;
  /** Why it was blocked, for programs. */
  proxyError?: string;
}

function answerTo(reached: Exclude<Reached, { kind: "connected" }>): Answer {
  if (reached.kind === "failed") return { status: 502, text: reached.reason };
  const { by, reason } = reached.denial;
  return { status: 403, text: `Blocked by the sandbox: ${reason}`, proxyError: `blocked-by-${by}` };
}

function refuse(response: ServerResponse, answer: Answer): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(answer.status, { ...headersOf(answer), connection: "close" });
  response.end(`${answer.text}\n`);
}

const statusTexts: Record<number, string> = { 400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway" };

function wholeAnswer(answer: Answer): string {
  const headers = { ...headersOf(answer), "content-length": Buffer.byteLength(answer.text) + 1, connection: "close" };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${answer.status} ${statusTexts[answer.status]}\r\n${lines.join("")}\r\n${answer.text}\n`;
}

const headersOf = ({ proxyError }: Answer): Record<string, string> => ({
  "content-type": "text/plain; charset=utf-8",
  ...(proxyError && { "x-proxy-error": proxyError }),
});

function closing(stream: Duplex | ServerResponse): AbortSignal {
  const stop = new AbortController();
  stream.once("close", () => stop.abort());
  return stop.signal;
}

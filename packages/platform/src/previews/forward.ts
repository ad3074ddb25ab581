// Forwards requests and WebSockets of a browser to a port of a machine.
import { type IncomingMessage, type ServerResponse, request as sendRequest } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { limitInterim, readStatusLine } from "@agentcli/workspace/http";
import { endAnswered } from "../foundation/index.ts";
import { headersForBrowser, headersForMachine, type Shown } from "./headers.ts";

export interface ForwardTarget extends Shown {
  dial(port: number): Duplex;
  /** The run has left the machine, or the visitor lost access. */
  ended: AbortSignal;
}

export function forwardRequest(request: IncomingMessage, response: ServerResponse, target: ForwardTarget): void {
  const forwarded = send(request, target, {});
  forwarded.on("response", (answer) => {
    const status = readStatusLine(answer);
    if (status === null) return void forwarded.destroy();
    response.writeHead(status.code, status.reason, headersForBrowser(answer.headers));
    answer.pipe(response);
    answer.on("error", () => response.destroy());
  });
  const fail = () => {
    if (response.headersSent) return void response.destroy();
    response.writeHead(502, { "content-type": "text/plain; charset=utf-8" });
    response.end(nothingAnswers(target));
  };
  forwarded.on("error", fail);
  // After 101 Node closes the connection without a response and without an error.
  forwarded.on("close", () => response.headersSent || fail());
  response.on("close", () => forwarded.destroy());
  request.pipe(forwarded);
}

/**
 * What follows is not HTTP only once the machine has agreed. Any other answer ends the connection: a proxy in front of the
 * platform may use it for the next request, which would then reach the machine although another client sent it.
 */
export function forwardSocket(
  request: IncomingMessage,
  stream: Duplex,
  target: ForwardTarget & { head: Buffer },
): void {
  const forwarded = send(request, target, {
    connection: "Upgrade",
    upgrade: request.headers.upgrade ?? "websocket",
  });
  const end = () => {
    stream.destroy();
    forwarded.destroy();
  };
  stream.on("error", end).on("close", end);
  forwarded.on("error", end);
  forwarded.on("response", (answer) => {
    stream.write(headOf(answer, { connection: "close" }));
    answer.pipe(stream, { end: false });
    answer.on("end", () => endAnswered(stream)).on("error", end);
  });
  forwarded.on("upgrade", (answer, connection, head) => {
    stream.write(headOf(answer, { connection: "Upgrade", upgrade: String(answer.headers.upgrade ?? "websocket") }));
    stream.write(head);
    connection.write(target.head);
    join(stream, connection, target.ended);
  });
  forwarded.end();
}

function join(stream: Duplex, connection: Duplex, ended: AbortSignal): void {
  const end = () => {
    stream.destroy();
    connection.destroy();
    ended.removeEventListener("abort", end);
  };
  ended.addEventListener("abort", end);
  for (const side of [stream, connection]) side.on("error", end).on("close", end);
  if (ended.aborted) end();
  else stream.pipe(connection).pipe(stream);
}

function send(request: IncomingMessage, target: ForwardTarget, more: Record<string, string>) {
  const sent = sendRequest({
    createConnection: () => asSocket(target.dial(target.port)),
    method: request.method,
    path: request.url,
    headers: { ...headersForMachine(request.headers, target), ...more },
    setHost: false,
    signal: target.ended,
  });
  limitInterim(sent);
  return sent;
}

function headOf(answer: IncomingMessage, more: Record<string, string>) {
  const { code, reason } = readStatusLine(answer) ?? { code: 502, reason: "" };
  const lines = Object.entries({ ...headersForBrowser(answer.headers), ...more }).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => `${name}: ${each}`),
  );
  return `HTTP/1.1 ${code} ${reason}\r\n${lines.join("\r\n")}\r\n\r\n`;
}

const nothingAnswers = ({ port }: ForwardTarget): string =>
  `Nothing answers on port ${port} of the agent's machine. Start a server there, then reload.\n`;

/** Node's client asks for what only sockets have. */
function asSocket(stream: Duplex): Socket {
  const nothing = () => stream;
  return Object.assign(stream, {
    setTimeout: nothing,
    setNoDelay: nothing,
    setKeepAlive: nothing,
    ref: nothing,
    unref: nothing,
  }) as unknown as Socket;
}

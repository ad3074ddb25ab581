// Sends a request to another server, and its answer back: bytes go through as fast as the slower side takes them.
import { type IncomingMessage, request as plainRequest, type RequestOptions, type ServerResponse } from "node:http";
import { request as secureRequest } from "node:https";
import { isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";

export interface Target {
  url: string;
  /** In place of those of the request. */
  headers: Record<string, string>;
  /** Until the first byte of the answer; null: as long as the client waits. */
  answerTimeoutMs: number | null;
}

const connectTimeoutMs = 5_000;
/** A server that is gone without a word is noticed by the kernel within half a minute. */
const keepAliveMs = 10_000;

/** Rejects if there is no answer; resolves when the answer has begun. `body`: what was read of the request already. */
export function sendRequest(
  sent: { request: IncomingMessage; response: ServerResponse; body?: Buffer | undefined },
  target: Target,
): Promise<void> {
  const { request, response, body } = sent;
  return new Promise((resolve, reject) => {
    const length: Record<string, string> = body === undefined ? {} : { "content-length": String(body.length) };
    const outgoing = open(request, { ...target, headers: { ...target.headers, ...length } }, {});
    response.on("close", () => outgoing.destroy());
    outgoing.on("error", (error) => (response.headersSent ? void response.destroy() : reject(error)));
    outgoing.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, endToEnd(answer));
      answer.on("error", () => response.destroy());
      answer.pipe(response);
      resolve();
    });
    if (body === undefined) request.pipe(outgoing);
    else outgoing.end(body);
  });
}

/** For a WebSocket. Rejects if there is no answer; any other answer than an upgrade is passed on and ends the connection. */
export function sendUpgrade(
  sent: { request: IncomingMessage; stream: Duplex; head: Buffer },
  target: Target,
): Promise<void> {
  const { request, stream, head } = sent;
  return new Promise((resolve, reject) => {
    const outgoing = open(request, target, {
      connection: "Upgrade",
      upgrade: String(request.headers.upgrade ?? "websocket"),
    });
    const end = () => {
      stream.destroy();
      outgoing.destroy();
    };
    stream.on("error", end).on("close", end);
    outgoing.on("error", reject);
    outgoing.on("response", (answer) => {
      stream.write(headOf(answer, { connection: "close" }));
      answer.on("error", end).on("end", () => stream.end());
      answer.pipe(stream, { end: false });
      resolve();
    });
    outgoing.on("upgrade", (answer, connection, first) => {
      connection.on("error", end).on("close", end);
      stream.write(headOf(answer, { connection: "Upgrade", upgrade: String(answer.headers.upgrade) }));
      stream.write(first);
      connection.write(head);
      stream.pipe(connection).pipe(stream);
      resolve();
    });
    outgoing.end();
  });
}

function open(request: IncomingMessage, target: Target, more: Record<string, string>) {
  const { protocol, hostname, port } = new URL(target.url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const options: RequestOptions & { servername?: string } = {
    ...{ host, port, method: request.method, path: request.url, agent: false, setHost: false },
    headers: { ...endToEnd(request), ...target.headers, ...more },
    // Otherwise the name in the header Host, which is the client's.
    ...(isIP(host) === 0 && { servername: host }),
  };
  const outgoing = protocol === "https:" ? secureRequest(options) : plainRequest(options);
  const late = setTimeout(
    () => outgoing.destroy(new Error(`no connection within ${connectTimeoutMs / 1_000} seconds`)),
    connectTimeoutMs,
  );
  outgoing.once("socket", (socket: Socket) => {
    const connected = () => {
      clearTimeout(late);
      socket.setKeepAlive(true, keepAliveMs);
    };
    socket.once(protocol === "https:" ? "secureConnect" : "connect", connected);
  });
  const { answerTimeoutMs } = target;
  const unanswered =
    answerTimeoutMs === null
      ? undefined
      : setTimeout(
          () => outgoing.destroy(new Error(`no answer within ${answerTimeoutMs / 1_000} seconds`)),
          answerTimeoutMs,
        );
  outgoing.once("response", () => clearTimeout(unanswered)).once("upgrade", () => clearTimeout(unanswered));
  outgoing.once("close", () => {
    clearTimeout(late);
    clearTimeout(unanswered);
  });
  return outgoing;
}

const hopByHop = new Set(
  "connection keep-alive proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade".split(" "),
);

/** Without those that concern one connection alone. */
function endToEnd({ headers, headersDistinct }: IncomingMessage): Record<string, string | string[]> {
  const named = new Set(
    [headers.connection ?? []]
      .flat()
      .join(",")
      .toLowerCase()
      .split(",")
      .map((name) => name.trim()),
  );
  const entries = Object.entries(headersDistinct).filter(([name]) => !hopByHop.has(name) && !named.has(name));
  return Object.fromEntries(
    entries.flatMap(([name, values = []]) => {
      const [first] = values;
      return first === undefined ? [] : [[name, name === "set-cookie" ? values : (headers[name] ?? first)]];
    }),
  ) as Record<string, string | string[]>;
}

function headOf(answer: IncomingMessage, more: Record<string, string>): string {
  const lines = Object.entries({ ...endToEnd(answer), ...more }).flatMap(([name, value]) =>
    [value].flat().map((each) => `${name}: ${each}`),
  );
  return `HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\n${lines.join("\r\n")}\r\n\r\n`;
}

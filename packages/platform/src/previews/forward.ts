// Forwards requests and WebSockets of a browser to a port of a machine.
import { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse, request as sendRequest } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

export interface ForwardTarget {
  port: number;
  dial(port: number): Duplex;
  /** The run has left the machine. */
  ended: AbortSignal;
  /** The address of the preview, as browsers see it. */
  origin: string;
  /** The key in `authorization` is one of the platform, which must not reach the machine. */
  hasPlatformKey: boolean;
}

/** The cookie of the pass stays with the platform. */
export const passCookie = "platform_preview";

export function forwardRequest(request: IncomingMessage, response: ServerResponse, target: ForwardTarget): void {
  const { port, dial, ended } = target;
  const forwarded = sendRequest({
    createConnection: () => asSocket(dial(port)),
    method: request.method,
    path: request.url,
    headers: headersFor(request, target),
    setHost: false,
    signal: ended,
  });
  forwarded.on("response", (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, withoutConnection(answer.headers));
    answer.pipe(response);
    answer.on("error", () => response.destroy());
  });
  forwarded.on("error", () => {
    if (response.headersSent) return void response.destroy();
    response.writeHead(502, { "content-type": "text/plain; charset=utf-8" });
    response.end(`Nothing answers on port ${port} of the agent's machine. Start a server there, then reload.\n`);
  });
  response.on("close", () => forwarded.destroy());
  request.pipe(forwarded);
}

/** As it came, with other headers; what follows is not HTTP. */
export function forwardSocket(
  request: IncomingMessage,
  stream: Duplex,
  target: ForwardTarget & { head: Buffer },
): void {
  const connection = target.dial(target.port);
  const end = () => {
    stream.destroy();
    connection.destroy();
  };
  target.ended.addEventListener("abort", end, { once: true });
  for (const side of [stream, connection]) side.on("error", end).on("close", end);
  const headers = Object.entries({
    ...headersFor(request, target),
    connection: "Upgrade",
    upgrade: request.headers.upgrade ?? "websocket",
  }).flatMap(([name, value]) => [value ?? []].flat().map((each) => `${name}: ${each}`));
  connection.write(`${request.method} ${request.url} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`);
  if (target.head.length > 0) connection.write(target.head);
  stream.pipe(connection).pipe(stream);
}

/** Development servers refuse host names that they do not know: they see their own. */
function headersFor(
  { headers }: IncomingMessage,
  { port, origin, hasPlatformKey }: ForwardTarget,
): IncomingHttpHeaders {
  const own = `localhost:${port}`;
  const { cookie, authorization, ...others } = withoutConnection(headers);
  const cookies = (cookie ?? "").split(/;\s*/).filter((pair) => pair !== "" && !pair.startsWith(`${passCookie}=`));
  return {
    ...others,
    host: own,
    ...(others.origin === origin && { origin: `http://${own}` }),
    ...(cookies.length > 0 && { cookie: cookies.join("; ") }),
    ...(authorization !== undefined && !hasPlatformKey && { authorization }),
    "x-forwarded-host": headers.host,
    "x-forwarded-proto": new URL(origin).protocol.slice(0, -1),
  };
}

export const readPass = ({ cookie }: IncomingHttpHeaders): string | undefined =>
  (cookie ?? "")
    .split(/;\s*/)
    .find((pair) => pair.startsWith(`${passCookie}=`))
    ?.slice(passCookie.length + 1);

const hopByHop = ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "te", "trailer", "upgrade"];

function withoutConnection(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = (headers.connection ?? "").toLowerCase().split(/\s*,\s*/);
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !hopByHop.includes(name) && !named.includes(name)),
  );
}

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

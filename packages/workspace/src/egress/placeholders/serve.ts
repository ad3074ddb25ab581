// Ends the TLS of a program at the proxy, and sends its requests on with the values of secrets in them. Answers have the placeholders again.
import { Agent, createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream";
import { buffer } from "node:stream/consumers";
import { connect, TLSSocket } from "node:tls";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { inTurn, limitInterim, readStatusLine } from "../../http/index.ts";
import type { Denial } from "../dial.ts";
import { hostText, readTarget, type Target } from "../hosts.ts";
import { endToEnd } from "../http-target.ts";
import type { Tunnel } from "../tunnel.ts";
import type { Authority } from "./authority.ts";
import { pairsOf, replaceIn, replacing } from "./replace.ts";
import { type BoundSecret, fillHead, mapHeaders, type RequestHead } from "./request.ts";
import { namedDigest, readSignature, signAgain } from "./signature.ts";

export interface Ending {
  tunnel: Tunnel;
  secrets: BoundSecret[];
  onDenied(denial: Denial): void;
}

export interface EndingContext {
  authority: Authority;
  /** Authorities that hosts are checked against, in PEM. */
  trusted: string[];
}

/** Serves all requests of one connection; they go to the very address that was allowed. */
export function endTls({ tunnel, secrets, onDenied }: Ending, { authority, trusted }: EndingContext): void {
  const { client, socket, target } = tunnel;
  const host = hostText(target.host);
  const refuse = (reason: string) => onDenied(refusal(target, reason));
  const inside = new TLSSocket(client, {
    isServer: true,
    secureContext: authority.contextFor(host),
    ALPNProtocols: ["http/1.1"],
    SNICallback(name, done) {
      if (isTarget(name, target)) return done(null);
      refuse(`its TLS handshake asks for ${JSON.stringify(name.slice(0, 255))} (SNI)`);
      done(new Error("another name"));
    },
  });
  const agent = openUpstream(tunnel, trusted);
  const close = () => {
    agent.destroy();
    socket.destroy();
    client.destroy();
  };
  inside.on("error", close);
  inside.once("close", close);
  socket.on("error", () => {});
  const server = createServer(
    { requestTimeout: 0 },
    inTurn((request, response) => {
      serve(request, response, { agent, secrets, target, refuse }).catch((error: Error) =>
        answer(response, 502, `${host} could not be reached: ${error.message}.`),
      );
    }),
  );
  server.on("upgrade", (_request, connection: Duplex) => connection.end(noUpgrade));
  server.emit("connection", inside);
}

const noUpgrade = "HTTP/1.1 501 Not Implemented\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/** One connection, used for one request after the other; once it is closed there is no other, and the program connects again. */
function openUpstream({ socket, target }: Tunnel, trusted: string[]): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let isUsed = false;
  agent.createConnection = (_options, done) => {
    if (isUsed) {
      done?.(new Error("the host closed the connection"), socket);
      return undefined;
    }
    isUsed = true;
    return connect({
      socket,
      servername: hostText(target.host),
      ca: trusted,
      ALPNProtocols: ["http/1.1"],
      minVersion: "TLSv1.2",
    });
  };
  return agent;
}

interface ServeContext {
  agent: Agent;
  secrets: BoundSecret[];
  target: Target;
  refuse(reason: string): void;
}

async function serve(request: IncomingMessage, response: ServerResponse, context: ServeContext): Promise<void> {
  const { agent, secrets, target, refuse } = context;
  const named = request.headersDistinct.host ?? [];
  if (named.length !== 1 || !isTarget(named[0] ?? "", target)) {
    refuse(`its request asks for ${JSON.stringify(named.join(", ").slice(0, 255))} (Host header)`);
    return answer(response, 421, "The Host header is not the host that the connection was opened for.");
  }
  const sent = headOf(request);
  const isSigned = secrets.some(({ uses }) => uses.includes("sigv4")) && readSignature(sent) !== null;
  const body = isSigned && namedDigest(sent) === null ? await readBody(request) : null;
  if (body === "too-large")
    return answer(response, 413, `Bodies of signed requests without a digest may have ${maxBodyBytes} bytes.`);
  const outgoing = fillHead({ ...sent, headers: withoutEncodings(sent.headers) }, secrets);
  const signing = secrets.filter(({ uses }) => uses.includes("sigv4"));
  const signed = isSigned ? signAgain({ sent, outgoing, body: body ?? Buffer.alloc(0) }, signing) : null;
  const { method, path } = outgoing;
  const onward = send({ agent, method, path, headers: endToEnd(signed ?? outgoing.headers, []), setHost: false });
  limitInterim(onward);
  const inBody = secrets.filter(({ uses }) => uses.includes("body"));
  const filling = inBody.flatMap(({ placeholder, value }) => pairsOf(placeholder, value));
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    onward.once("response", resolve);
    onward.once("error", reject);
    onward.once("close", () => reject(new Error("the connection was closed without a response")));
  });
  response.once("close", () => response.writableFinished || onward.destroy());
  if (body) onward.end(body);
  else if (filling.length > 0) pipeline(request, replacing(filling), onward, () => {});
  else pipeline(request, onward, () => {});
  passOn(await answered, response, secrets);
}

const headOf = ({ method = "GET", url = "/", rawHeaders }: IncomingMessage): RequestHead => ({
  method,
  path: url,
  headers: rawHeaders,
});

const maxBodyBytes = 8 * 1024 * 1024;

async function readBody(request: IncomingMessage): Promise<Buffer | "too-large"> {
  let size = 0;
  request.on("data", (part: Buffer) => {
    size += part.length;
    if (size > maxBodyBytes) request.destroy();
  });
  return buffer(request).catch(() => "too-large" as const);
}

/** Echoes in compressed answers would not be seen. */
const withoutEncodings = (headers: string[]): string[] =>
  mapHeaders(headers, (name, value) => (name === "accept-encoding" ? "identity" : value));

/** With the placeholders where the host repeats a value. */
function passOn(reply: IncomingMessage, response: ServerResponse, secrets: BoundSecret[]): void {
  const status = readStatusLine(reply);
  const encoding = (reply.headers["content-encoding"] ?? "identity").toLowerCase();
  const decode = decoders[encoding];
  if (status === null || decode === undefined) {
    reply.destroy();
    answer(response, 502, `The host answered in the encoding ${JSON.stringify(encoding)}, which cannot be read.`);
    return;
  }
  const pairs = secrets.flatMap(({ value, placeholder }) => pairsOf(value, placeholder));
  const dropped = ["transfer-encoding", ...(encoding === "identity" ? [] : ["content-encoding", "content-length"])];
  const headers = mapHeaders(endToEnd(reply.rawHeaders, dropped), (_name, value) => replaceIn(value, pairs));
  response.writeHead(status.code, replaceIn(status.reason, pairs), headers);
  response.flushHeaders();
  pipeline([reply, ...decode(), replacing(pairs), response], () => {});
}

const decoders: Record<string, () => NodeJS.ReadWriteStream[]> = {
  identity: () => [],
  gzip: () => [createGunzip()],
  "x-gzip": () => [createGunzip()],
  deflate: () => [createInflate()],
  br: () => [createBrotliDecompress()],
};

function answer(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" });
  response.end(`${text}\n`);
}

function isTarget(name: string, { host, port }: Target): boolean {
  const read = readTarget(name, port);
  return read !== undefined && read.port === port && hostText(read.host) === hostText(host);
}

const refusal = ({ host, port }: Target, what: string): Denial => ({
  ...{ host: hostText(host), port, by: "policy", rule: "one host for each connection" },
  reason: `The connection to ${hostText(host)}:${port} was allowed, but ${what}. Connect to that host by its own name.`,
});

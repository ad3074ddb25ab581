// The connection to the platform: one WebSocket that this side opens, through the proxy of the network if there is one.
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { Agent } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { CommandError } from "@agentcli/command-line";
import { endAfterSilence } from "@agentcli/workspace";
import { createWebSocketStream, WebSocket } from "ws";

export interface DialOptions {
  /** Of the platform. */
  url: string;
  path: string;
  key: string;
  variables: NodeJS.ProcessEnv;
  signal: AbortSignal;
}

export interface Dialled {
  stream: Duplex;
  /** The connection ends once nothing came for this long. */
  limitSilence(maxSilenceMs: number): void;
}

const openTimeoutMs = 30_000;

/** Throws a CommandError that no further attempt can change; any other error is worth another attempt. */
export async function dial({ url, path, key, variables, signal }: DialOptions): Promise<Dialled> {
  const target = new URL(`${url.replace(/^http/, "ws")}${path}`);
  const proxy = proxyFor(target, variables);
  const socket = new WebSocket(target, {
    headers: { authorization: `Bearer ${key}` },
    perMessageDeflate: false,
    handshakeTimeout: openTimeoutMs,
    ...(proxy && { agent: agentOf(proxy) }),
  });
  const abort = () => socket.terminate();
  signal.addEventListener("abort", abort);
  socket.once("close", () => signal.removeEventListener("abort", abort));
  const refused = once(socket, "unexpected-response").then(([, response]) =>
    refusalOf(response as IncomingMessage, url),
  );
  refused.catch(() => {});
  const opened = once(socket, "open");
  opened.catch(() => {});
  const refusal = await Promise.race([opened.then(() => null), refused]);
  if (refusal) {
    socket.on("error", () => {});
    socket.terminate();
    throw refusal;
  }
  const limitSilence = await endAfterSilence(socket);
  return { stream: createWebSocketStream(socket, { highWaterMark: 1024 * 1024 }), limitSilence };
}

async function refusalOf(response: IncomingMessage, url: string): Promise<Error> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  const text = messageIn(Buffer.concat(parts).toString("utf8"));
  const { statusCode = 0 } = response;
  if (statusCode === 401 || statusCode === 403)
    return new CommandError("auth", `The platform refused the key: ${text}`);
  if (statusCode === 404)
    return new CommandError("usage", `${url} does not serve workers. Check the address, or upgrade the platform.`);
  return new Error(`The platform answered ${statusCode}: ${text}`);
}

function messageIn(body: string): string {
  try {
    const { error } = JSON.parse(body) as { error?: { message?: string } };
    return error?.message ?? body.slice(0, 300);
  } catch {
    return body.slice(0, 300);
  }
}

export const agentOf = (proxy: URL): Agent => new TunnelAgent(proxy);

/** HTTPS_PROXY with TLS, HTTP_PROXY without; NO_PROXY excludes hosts. */
export function proxyFor(target: URL, variables: NodeJS.ProcessEnv): URL | undefined {
  const read = (name: string) => variables[name] || variables[name.toLowerCase()] || undefined;
  const text = /^(?:wss|https):$/.test(target.protocol) ? read("HTTPS_PROXY") : read("HTTP_PROXY");
  const excluded = (read("NO_PROXY") ?? "").split(",").map((entry) => entry.trim().replace(/^\*?\./, ""));
  const host = target.hostname;
  if (excluded.some((entry) => entry === "*" || (entry !== "" && (host === entry || host.endsWith(`.${entry}`)))))
    return undefined;
  if (text === undefined) return undefined;
  if (URL.canParse(text) && new URL(text).protocol === "http:") return new URL(text);
  throw new CommandError("usage", `Invalid proxy "${text}": expected http://HOST:PORT.`);
}

/** Asks the proxy for a tunnel, and speaks TLS with the platform through it. */
class TunnelAgent extends Agent {
  readonly #proxy: URL;

  constructor(proxy: URL) {
    super();
    this.#proxy = proxy;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the types of Node do not have the callback.
  override createConnection(options: any, done: any): any {
    const { host, port, servername } = options as { host: string; port: number | string; servername?: string };
    const { hostname, port: proxyPort, username, password } = this.#proxy;
    const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64");
    const tunnel = httpRequest({
      host: hostname,
      port: proxyPort || 80,
      method: "CONNECT",
      path: `${host}:${port}`,
      headers: { host: `${host}:${port}`, ...(username && { "proxy-authorization": `Basic ${login}` }) },
      timeout: openTimeoutMs,
    });
    tunnel.on("timeout", () => tunnel.destroy(new Error(`The proxy ${hostname} did not answer.`)));
    tunnel.on("error", (error) => done(error));
    tunnel.on("connect", (response: IncomingMessage, socket: Socket) => {
      if (response.statusCode === 200)
        return done(
          null,
          /^(?:ws|http):$/.test(options.protocol)
            ? socket
            : connectTls({ ...options, socket, servername: servername ?? host }),
        );
      socket.destroy();
      done(new Error(`The proxy ${hostname} refused the connection: ${response.statusCode}.`));
    });
    tunnel.end();
  }
}

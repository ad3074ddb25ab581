// A connection to a server elsewhere: over a port or a socket file.
import { CommandError } from "@agentcli/command-line";
import type { Connect } from "./client.ts";

export interface RemoteAddress {
  /** As `--remote` has it: ws://, wss:// or unix:// */
  url: string;
  /** Sent as a bearer token. */
  token: string | null;
}

export function connectTo({ url, token }: RemoteAddress): Connect {
  const socket = /^unix:\/\/(\/.+)$/.exec(url)?.[1];
  const address = socket === undefined ? url : `ws+unix://${socket}:/`;
  if (socket === undefined && !/^wss?:\/\/[^/]/.test(url))
    throw new CommandError("usage", `--remote ${url}: expected ws://HOST:PORT, wss://HOST or unix:///PATH.`);
  const refused = (status: number | undefined) => {
    if (status !== 401) return unavailable(url, `it answered ${status}`);
    const way = "--remote-auth-token-env VARIABLE or --remote-auth-token-file FILE";
    const what = token === null ? `needs a token: ${way}` : `refused this token. Give the current one: ${way}`;
    return new CommandError("auth", `The app server at ${url} ${what}.`);
  };
  return async ({ received, lost }) => {
    const { WebSocket } = await import("ws");
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    const webSocket = new WebSocket(address, { headers, perMessageDeflate: false, handshakeTimeout: handshakeMs });
    await new Promise<void>((resolve, reject) => {
      webSocket.once("open", resolve);
      webSocket.once("error", (error) => reject(unavailable(url, error.message)));
      webSocket.once("unexpected-response", (_request, { statusCode }) => reject(refused(statusCode)));
    });
    webSocket.on("message", (data) => received(String(data)));
    webSocket.on("error", (error) => lost(error.message));
    webSocket.on("close", (_code, reason) => lost(String(reason) || "the server closed the connection"));
    watch(webSocket);
    return { send: (text) => webSocket.send(text), close: () => webSocket.close() };
  };
}

const handshakeMs = 10_000;
const unavailable = (url: string, reason: string) =>
  new CommandError("unavailable", `Could not connect to the app server at ${url}: ${reason}.`);
/** A machine that slept or lost its network gets no end of the connection: silence for two of these ends it. */
const pingMs = 15_000;

function watch(webSocket: import("ws").WebSocket): void {
  let isAlive = true;
  const timer = setInterval(() => {
    if (!isAlive) return webSocket.terminate();
    isAlive = false;
    webSocket.ping();
  }, pingMs);
  webSocket.on("pong", () => {
    isAlive = true;
  });
  webSocket.on("close", () => clearInterval(timer));
}

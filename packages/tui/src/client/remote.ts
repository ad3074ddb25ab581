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
  return async ({ received, lost }) => {
    const { WebSocket } = await import("ws");
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    const webSocket = new WebSocket(address, { headers, perMessageDeflate: false, handshakeTimeout: handshakeMs });
    await new Promise<void>((resolve, reject) => {
      webSocket.once("open", resolve);
      webSocket.once("error", reject);
      webSocket.once("unexpected-response", (_request, response) =>
        reject(new Error(response.statusCode === 401 ? tokenNeeded : `the server answered ${response.statusCode}`)),
      );
    });
    webSocket.on("message", (data) => received(String(data)));
    webSocket.on("error", (error) => lost(error.message));
    webSocket.on("close", (_code, reason) => lost(String(reason) || "the server closed the connection"));
    watch(webSocket);
    return { send: (text) => webSocket.send(text), close: () => webSocket.close() };
  };
}

const handshakeMs = 10_000;
const tokenNeeded = "the server wants a token: --remote-auth-token-env VARIABLE or --remote-auth-token-file FILE";
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

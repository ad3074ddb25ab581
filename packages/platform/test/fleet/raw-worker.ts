// A worker as a test plays it: a WebSocket to the platform, registered or not, with answers that the test chooses.
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { linkVersion, workerPath } from "@agentcli/protocol/worker-link";
import { type Answer, type Link, type LinkRequest, openLink } from "@agentcli/workspace";
import { onTestFinished } from "vitest";
import { createWebSocketStream, WebSocket } from "ws";

export type Connected = { kind: "refused"; status: number; message: string } | { kind: "open"; socket: WebSocket };

/** Settles when the platform has accepted or refused the connection. */
export async function connect(url: string, key: string): Promise<Connected> {
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}${workerPath}`, {
    headers: { authorization: `Bearer ${key}` },
    perMessageDeflate: false,
  });
  onTestFinished(() => socket.terminate());
  socket.on("error", () => {});
  const refused = once(socket, "unexpected-response").then(async ([, response]): Promise<Connected> => {
    const parts: Buffer[] = [];
    for await (const part of response) parts.push(part as Buffer);
    const { error } = JSON.parse(Buffer.concat(parts).toString()) as { error: { message: string } };
    return { kind: "refused", status: response.statusCode, message: error.message };
  });
  refused.catch(() => {});
  const opened = once(socket, "open").then((): Connected => ({ kind: "open", socket }));
  opened.catch(() => {});
  return Promise.race([opened, refused]);
}

export interface RawWorker {
  socket: WebSocket;
  stream: Duplex;
  link: Link;
}

type Handler = (request: LinkRequest, answer: Answer) => Promise<void>;

/** Throws if the connection is refused. */
export async function openRawWorker(url: string, key: string, onRequest: Handler = async () => {}): Promise<RawWorker> {
  const connected = await connect(url, key);
  if (connected.kind === "refused") throw new Error(`${connected.status} ${connected.message}`);
  const { socket } = connected;
  const stream = createWebSocketStream(socket, { highWaterMark: 1024 * 1024 });
  stream.on("error", () => {});
  return { socket, stream, link: await openLink({ stream, side: "worker", onRequest }) };
}

export const registration = (more: object = {}): object => ({
  ...{ linkVersion, version: "1.0", workerId: "w1", session: "s1", name: "w1", labels: {}, workspaceRootPath: "/" },
  ...more,
});

// Requests over one connection between a platform and a worker. Each has a channel of its own: a line of JSON, a line of
// JSON in return, then bytes in both directions. Neither side trusts the other: what is not understood ends the channel.
import type { Duplex } from "node:stream";
import { openMultiplexer } from "../egress/index.ts";
import { readFirstLine } from "./first-line.ts";

export interface LinkRequest {
  name: string;
  /** As sent: to be validated. */
  body: unknown;
  /** What follows the lines. */
  stream: Duplex;
}

/** Sends the answer, once; what the stream is given after it follows. */
export type Answer = (reply: object) => void;

export interface LinkOptions {
  stream: Duplex;
  /** They number their channels differently. */
  side: "platform" | "worker";
  /** Before the answer, an error becomes the answer; after it, the channel ends. */
  onRequest(request: LinkRequest, answer: Answer): Promise<void>;
}

export interface Link {
  /** Rejects with a LinkError if the other side refuses, or the connection ends. The caller ends the stream. */
  request(name: string, body: object, write?: (stream: Duplex) => Promise<void>): Promise<LinkReply>;
  /** Settles when the connection has ended. */
  closed: Promise<void>;
  close(): void;
}

export interface LinkReply {
  reply: unknown;
  stream: Duplex;
}

/** The other side refused a request. */
export class LinkError extends Error {
  override name = "LinkError";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const requestKind = 1;
const maxLineBytes = 4 * 1024 * 1024;
/** How long the other side may take to send the first line of a request. */
const firstLineTimeoutMs = 60_000;

export async function openLink({ stream, side, onRequest }: LinkOptions): Promise<Link> {
  const closed = new Promise<void>((resolve) => stream.once("close", () => resolve()));
  const multiplexer = await openMultiplexer({
    stream,
    firstChannel: side === "worker" ? 2 ** 31 : 0,
    onChannel: (kind, channel) => {
      channel.on("error", () => {});
      if (kind === requestKind) void accept(channel, onRequest);
      else channel.destroy();
    },
  });
  return {
    closed,
    close: () => void stream.destroy(),
    async request(name, body, write) {
      const channel = multiplexer.open(requestKind);
      channel.on("error", () => {});
      try {
        channel.write(`${JSON.stringify({ request: name, body })}\n`);
        const [line] = await Promise.all([readFirstLine(channel, maxLineBytes), write?.(channel)]);
        return { reply: readReply(line), stream: channel };
      } catch (error) {
        channel.destroy();
        if (error instanceof LinkError) throw error;
        throw new LinkError("disconnected", `No answer to ${name}: ${(error as Error).message}`);
      }
    },
  };
}

async function accept(channel: Duplex, onRequest: LinkOptions["onRequest"]): Promise<void> {
  let isAnswered = false;
  const send = (line: object) => {
    if (isAnswered) return;
    isAnswered = true;
    channel.write(`${JSON.stringify(line)}\n`);
  };
  const late = setTimeout(() => channel.destroy(), firstLineTimeoutMs);
  try {
    const { request, body } = parse(await readFirstLine(channel, maxLineBytes));
    clearTimeout(late);
    if (typeof request !== "string") throw new LinkError("invalid", "The request has no name.");
    await onRequest({ name: request, body, stream: channel }, (reply) => send({ reply }));
  } catch (error) {
    if (isAnswered) return void channel.destroy();
    const { code, message } = error as LinkError;
    send({ error: { code: typeof code === "string" ? code : "failed", message } });
    channel.end();
    channel.resume();
  } finally {
    clearTimeout(late);
  }
}

function readReply(line: string): unknown {
  const { reply, error } = parse(line);
  if (error === undefined) return reply;
  const { code, message } = (typeof error === "object" && error !== null ? error : {}) as Record<string, unknown>;
  const text = typeof message === "string" ? message : "The request failed.";
  throw new LinkError(typeof code === "string" ? code : "failed", text.slice(0, 2_000));
}

function parse(line: string): Record<string, unknown> {
  const value: unknown = JSON.parse(line);
  if (typeof value !== "object" || value === null) throw new LinkError("invalid", "A line is not an object.");
  return value as Record<string, unknown>;
}

// Plays one reply of a script on an HTTP response: a model reply, or a fault.
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { anthropicFrames, anthropicObject } from "./anthropic.ts";
import { chatFrames, chatObject } from "./chat.ts";
import { type Content, type Ending, fillIn } from "./content.ts";
import { responsesFrames, responsesObject } from "./responses.ts";
import type { PlainReply, Reply } from "./script.ts";

export interface ModelRequest {
  wire: "responses" | "chat" | "anthropic";
  /** How many model requests came before this one. */
  number: number;
  model: string;
  form: "stream" | "object";
  usage: "with-usage" | "without-usage";
}

/** Where an answer goes; `gone` fires when the client left or the server closes. */
export interface Outlet {
  response: ServerResponse;
  gone: AbortSignal;
}

/** Settles when the reply is sent; throws when the reader is gone before that. */
export async function play(reply: Reply, request: ModelRequest, outlet: Outlet): Promise<void> {
  const { response, gone } = outlet;
  if ("status" in reply) return sendStatus(response, reply);
  if ("garbage" in reply) {
    response.writeHead(200, { "content-type": reply.contentType ?? "text/event-stream" });
    response.end(reply.garbage);
    return;
  }
  if ("stall" in reply && reply.stall === "before-headers") await pause(reply.ms, gone);
  const content = fillIn(reply, endingOf(reply), request.number, request.model);
  if (request.form === "object") return sendStatus(response, { status: 200, body: wholeOf(content, request) });
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.flushHeaders();
  await sendStream(reply, framesOf(content, request), outlet);
}

export function sendStatus(
  response: ServerResponse,
  { status, headers, body }: { status: number; headers?: Record<string, string>; body?: unknown },
): void {
  const text = typeof body === "string" ? body : JSON.stringify(body ?? { error: { message: `scripted ${status}` } });
  const type = typeof body === "string" ? "text/plain" : "application/json";
  response.writeHead(status, { "content-type": type, ...headers });
  response.end(text);
}

type StreamReply = Exclude<Reply, { status: number } | { garbage: string }>;

async function sendStream(reply: StreamReply, frames: Generator<string>, outlet: Outlet): Promise<void> {
  if ("cutAfter" in reply) return sendCut(reply.cutAfter, frames, outlet);
  if ("stall" in reply && reply.stall !== "before-headers") {
    await sendFrames(take(frames, reply.stall === "after-headers" ? 0 : reply.stall), reply, outlet);
    await pause(reply.ms, outlet.gone);
  }
  await sendFrames(frames, reply, outlet);
  outlet.response.end();
}

async function sendCut(cutAfter: number | "half", frames: Generator<string>, outlet: Outlet): Promise<void> {
  const bytes = Buffer.from([...take(frames, cutAfter === "half" ? Number.POSITIVE_INFINITY : cutAfter)].join(""));
  await write(cutAfter === "half" ? bytes.subarray(0, bytes.length / 2) : bytes, outlet);
  outlet.response.destroy();
}

function* take(frames: Iterator<string>, count: number): Generator<string> {
  for (let taken = 0; taken < count; taken++) {
    const frame = frames.next();
    if (frame.done) return;
    yield frame.value;
  }
}

type Pace = Pick<PlainReply, "deltaDelayMs" | "chunkBytes">;

// Frames are written in blocks: a system call per delta would measure the server, not its client.
const blockLength = 16_384;

async function sendFrames(frames: Iterable<string>, pace: Pace, outlet: Outlet): Promise<void> {
  let block = "";
  for (const frame of frames) {
    block += frame;
    if (!pace.deltaDelayMs && block.length < blockLength) continue;
    await sendBlock(block, pace, outlet);
    block = "";
    if (pace.deltaDelayMs) await pause(pace.deltaDelayMs, outlet.gone);
  }
  await sendBlock(block, pace, outlet);
}

async function sendBlock(block: string, pace: Pace, outlet: Outlet): Promise<void> {
  const bytes = Buffer.from(block);
  const size = pace.chunkBytes ?? Math.max(1, bytes.length);
  for (let start = 0; start < bytes.length; start += size) await write(bytes.subarray(start, start + size), outlet);
}

async function write(bytes: Buffer, { response, gone }: Outlet): Promise<void> {
  gone.throwIfAborted();
  if (!response.write(bytes)) await once(response, "drain", { signal: gone });
  // A turn of the event loop, so that each write leaves on its own.
  else await new Promise((resolve) => setImmediate(resolve));
}

async function pause(ms: number | undefined, gone: AbortSignal): Promise<void> {
  gone.throwIfAborted();
  if (ms !== undefined) await delay(ms, undefined, { signal: gone });
  else await new Promise((_, reject) => gone.addEventListener("abort", () => reject(gone.reason), { once: true }));
}

function endingOf(reply: StreamReply): Ending {
  if ("failed" in reply) return { kind: "failed", ...reply.failed };
  if ("incomplete" in reply) return { kind: "incomplete", reason: reply.incomplete };
  return { kind: "paused" in reply ? "paused" : "completed" };
}

function framesOf(content: Content, { wire, usage }: ModelRequest): Generator<string> {
  switch (wire) {
    case "responses":
      return responsesFrames(content);
    case "chat":
      return chatFrames(content, usage);
    case "anthropic":
      return anthropicFrames(content);
  }
}

function wholeOf(content: Content, { wire }: ModelRequest): object {
  switch (wire) {
    case "responses":
      return responsesObject(content);
    case "chat":
      return chatObject(content);
    case "anthropic":
      return anthropicObject(content);
  }
}

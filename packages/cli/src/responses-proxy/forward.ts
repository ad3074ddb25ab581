// One request to the upstream and its answer back, streamed both ways at the pace of the slower side.
import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import { readStatusLine } from "@agentcli/workspace/http";
import { requestHeaders, responseHeaders } from "./headers.ts";
import { refusals, refuse, tooLarge, unreachable } from "./refusal.ts";
import { openScrubber } from "./scrub.ts";
import type { Upstream } from "./upstream.ts";

export interface ForwardContext {
  upstream: Upstream;
  key: Buffer;
  maxBodyBytes: number;
  target: URL;
}

export function forward(request: IncomingMessage, response: ServerResponse, context: ForwardContext): void {
  const { upstream, key, maxBodyBytes, target } = context;
  if (Number(request.headers["content-length"] ?? 0) > maxBodyBytes)
    return void refuse(response, tooLarge(maxBodyBytes));
  const headers = requestHeaders(request.headers, `Bearer ${key.toString("latin1")}`);
  const outgoing = upstream.request(target, { method: request.method, headers, agent: upstream.agent });
  outgoing.on("response", (answer) => passAnswer(answer, response, key));
  outgoing.on("error", (error: NodeJS.ErrnoException) => refuse(response, unreachable(error.code ?? error.message)));
  response.on("close", () => outgoing.destroy());
  sendBody(request, outgoing, {
    maxBodyBytes,
    onTooLarge() {
      refuse(response, tooLarge(maxBodyBytes));
      outgoing.destroy();
    },
  });
}

interface BodyLimit {
  maxBodyBytes: number;
  onTooLarge(): void;
}

/** Counts on the way: a body without a length is cut off at the limit. */
function sendBody(request: IncomingMessage, outgoing: ClientRequest, { maxBodyBytes, onTooLarge }: BodyLimit): void {
  let size = 0;
  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBodyBytes) {
      request.pause();
      return onTooLarge();
    }
    if (!outgoing.write(chunk)) request.pause();
  });
  outgoing.on("drain", () => request.resume());
  request.on("end", () => outgoing.end());
}

function passAnswer(answer: IncomingMessage, response: ServerResponse, key: Buffer): void {
  const status = readStatusLine(answer)?.code;
  if (status === undefined) return void discard(answer, () => refuse(response, unreachable("invalid status")));
  if (status === 401) return void discard(answer, () => refuse(response, refusals.upstreamUnauthorized));
  if (status >= 300 && status < 400) return void discard(answer, () => refuse(response, refusals.redirect));
  response.writeHead(status, responseHeaders(answer.headers, key.toString("latin1")));
  // A client waits for the first byte of a stream, and sees at once that it was accepted.
  response.flushHeaders();
  passBody(answer, response, key);
}

function discard(answer: IncomingMessage, then: () => void): void {
  answer.resume();
  then();
}

function passBody(answer: IncomingMessage, response: ServerResponse, key: Buffer): void {
  const scrubber = openScrubber(key);
  let pieces: Buffer[] = [];
  // One read from the network can bring many small events: they are written together.
  const flush = () => {
    if (pieces.length === 0) return;
    const clean = scrubber.scrub(pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces));
    pieces = [];
    if (clean.length > 0 && !response.write(clean)) answer.pause();
  };
  answer.on("data", (chunk: Buffer) => {
    if (pieces.push(chunk) === 1) process.nextTick(flush);
  });
  response.on("drain", () => answer.resume());
  answer.on("end", () => {
    flush();
    response.end(scrubber.end());
  });
  // An upstream that breaks off: the client must not take what it has for complete.
  answer.on("close", () => {
    if (!answer.complete) response.destroy();
  });
}

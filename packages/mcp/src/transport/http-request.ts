// One HTTP request with Node's own client: `fetch` would cost 20 ms to load.
import type { IncomingMessage } from "node:http";
import type { LookupFunction } from "node:net";
import { maxLineLength } from "./lines.ts";

export interface HttpRequest {
  method: "GET" | "POST" | "DELETE";
  headers: Record<string, string>;
  body?: string;
}

/** The DNS lookup to use for an address. Rejects with a message for people if the address is not allowed. */
export type LookupFor = (url: URL, signal: AbortSignal) => Promise<LookupFunction>;

/** Settles with the response headers. Redirects are not followed: they would carry credentials elsewhere. */
export async function sendRequest(
  url: URL,
  request: HttpRequest & { lookupFor?: LookupFor | undefined },
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const client = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  const lookup = await request.lookupFor?.(url, signal);
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const sent = client.request(url, { method: request.method, headers: request.headers, lookup }, resolve);
    // Not the `signal` option: an abort while the response is read would throw on the socket, unhandled.
    const stop = () => void sent.destroy();
    signal.addEventListener("abort", stop);
    sent.on("close", () => {
      signal.removeEventListener("abort", stop);
      // After 101 Node closes the connection without a response and without an error.
      reject(new Error(`${url.origin} closed the connection without a response`));
    });
    sent.on("error", (error) =>
      reject(new Error(`${url.origin} could not be reached: ${error.message || nameOf(error)}`)),
    );
    sent.end(request.body);
  });
}

/** A failed attempt at several addresses is an error without a message. */
const nameOf = (error: NodeJS.ErrnoException): string => error.code ?? error.name;

/** The whole body, up to `maxBytes`. */
export async function readBody(response: IncomingMessage, maxBytes = maxLineLength): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > maxBytes) {
      response.destroy();
      throw new Error(`its response is larger than ${maxBytes} bytes`);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** The start of the body of an error response. */
export async function readBeginning(response: IncomingMessage): Promise<string> {
  try {
    return (await readBody(response, 64 * 1024)).trim().slice(0, 500);
  } catch {
    // The status is reported anyway.
    return "";
  }
}

// One HTTP request over Node's own client, and its answer as far as it is needed. `fetch` would cost 20 ms to load.
import type { IncomingMessage } from "node:http";
import type { LookupFunction } from "node:net";
import { longestLine } from "./lines.ts";

export interface Exchange {
  method: "GET" | "POST" | "DELETE";
  headers: Record<string, string>;
  body?: string;
}

/** Says where an address leads, or rejects with a sentence for people where nobody may go. */
export type Reach = (url: URL, signal: AbortSignal) => Promise<LookupFunction>;

/** Settles with the head of the answer. Redirects are not followed: they would carry credentials elsewhere. */
export async function exchange(
  url: URL,
  request: Exchange & { reach?: Reach | undefined },
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const client = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  const lookup = await request.reach?.(url, signal);
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const sent = client.request(url, { method: request.method, headers: request.headers, lookup }, resolve);
    // Not the `signal` option: aborting there while an answer is read throws on the socket, where nobody listens.
    const stop = () => void sent.destroy();
    signal.addEventListener("abort", stop);
    sent.on("close", () => signal.removeEventListener("abort", stop));
    sent.on("error", (error) =>
      reject(new Error(`${url.origin} could not be reached: ${error.message || nameOf(error)}`)),
    );
    sent.end(request.body);
  });
}

/** An attempt at several addresses fails with an error that has no message of its own. */
const nameOf = (error: NodeJS.ErrnoException): string => error.code ?? error.name;

/** The body, which must end within a limit and within the patience of the caller. */
export async function readBody(response: IncomingMessage, most = longestLine): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > most) {
      response.destroy();
      throw new Error(`its answer has more than ${most} bytes`);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** The beginning of a body that only explains a refusal. */
export async function readBeginning(response: IncomingMessage): Promise<string> {
  try {
    return (await readBody(response, 64 * 1024)).trim().slice(0, 500);
  } catch {
    // The refusal itself is the news; why its explanation cannot be read is not.
    return "";
  }
}

// A server over HTTP as it was before 2025-03: one stream brings every message, and says where ours are to be sent.
import type { IncomingMessage } from "node:http";
import type { Channel, ChannelEvents } from "./channel.ts";
import { exchange, readBeginning } from "./exchange.ts";
import type { HttpPlace } from "./http.ts";
import { readEvents } from "./sse.ts";

/** Connects with the first message. */
export function openLegacySse(place: HttpPlace, events: ChannelEvents): Channel {
  const closed = new AbortController();
  const lost = (reason: string) => {
    if (!closed.signal.aborted) events.lost(reason);
  };
  const connect = async () => hear(await listen(place, closed.signal), place.url, { message: events.message, lost });
  let endpoint: Promise<URL> | null = null;
  return {
    async send(message, signal) {
      endpoint ??= connect();
      const address = await orAborted(endpoint, signal);
      const headers = { ...(await headersOf(place)), "content-type": "application/json" };
      const body = JSON.stringify(message);
      const response = await exchange(address, { method: "POST", headers, body, reach: place.reach }, signal);
      if (!isFine(response)) throw await refusal(response, place);
      response.resume();
    },
    agreed: () => {},
    async close() {
      closed.abort();
    },
  };
}

function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

const headersOf = async ({ headers, authorization }: HttpPlace): Promise<Record<string, string>> => ({
  ...(await authorization.headers()),
  ...headers,
});

/** Refused once, it is asked again with new credentials, where there are any. */
async function listen(place: HttpPlace, signal: AbortSignal): Promise<IncomingMessage> {
  const ask = async () =>
    exchange(
      place.url,
      {
        method: "GET",
        headers: { ...(await headersOf(place)), accept: "text/event-stream" },
        reach: place.reach,
      },
      signal,
    );
  const first = await ask();
  if (isFine(first)) return first;
  const challenge = { status: first.statusCode ?? 0, header: first.headers["www-authenticate"] ?? "" };
  if (challenge.status !== 401 || !(await place.authorization.renew(challenge, signal)))
    throw await refusal(first, place);
  first.resume();
  const second = await ask();
  if (isFine(second)) return second;
  throw await refusal(second, place);
}

const isFine = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 200 && statusCode < 300;

async function refusal(response: IncomingMessage, { authorization }: HttpPlace): Promise<Error> {
  const status = response.statusCode ?? 0;
  const said = await readBeginning(response);
  if (status === 401 || status === 403) return new Error(`it refused us (HTTP ${status}); ${authorization.advice}`);
  return new Error(`it answered HTTP ${status}${said ? `: ${said}` : ""}`);
}

/** Settles with the address for our messages, which the server names first; from then on messages are passed on. */
function hear(stream: IncomingMessage, url: URL, events: ChannelEvents): Promise<URL> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const end = (reason: string) => {
      if (isOver) return;
      isOver = true;
      stream.destroy();
      reject(new Error(reason));
      events.lost(reason);
    };
    const reader = readEvents({
      event({ type, data }) {
        if (type === "endpoint") resolve(ownAddress(data, url, end));
        if (type === "message" && data !== "") parsed(data, events.message);
      },
      retry() {},
      tooLong: () => void stream.destroy(),
    });
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => reader.add(text));
    stream.on("error", (error) => end(`its stream broke off: ${error.message}`));
    stream.on("close", () => end("its stream ended"));
  });
}

/** Elsewhere our credentials have no business. */
function ownAddress(data: string, url: URL, refuse: (reason: string) => void): URL {
  const endpoint = URL.canParse(data, url.href) ? new URL(data, url) : null;
  if (endpoint?.origin !== url.origin) refuse(`it wants its messages sent elsewhere: ${data.slice(0, 200)}`);
  return endpoint ?? url;
}

function parsed(data: string, use: ChannelEvents["message"]): void {
  let value: Parameters<typeof use>[0];
  try {
    value = JSON.parse(data);
  } catch {
    // What is no JSON is no answer either: whoever waits for one is told when the time is over.
    return;
  }
  use(value);
}

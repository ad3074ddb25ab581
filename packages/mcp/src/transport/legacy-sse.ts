// A server over the HTTP transport of before 2025-03: one event stream carries every message and names the address to post to.
import type { IncomingMessage } from "node:http";
import type { Channel, ChannelEvents } from "./channel.ts";
import type { HttpEndpoint } from "./http.ts";
import { readBeginning, sendRequest } from "./http-request.ts";
import { readEvents } from "./sse.ts";

/** Connects with the first message. */
export function openLegacySse(endpoint: HttpEndpoint, events: ChannelEvents): Channel {
  const closed = new AbortController();
  const lost = (reason: string) => {
    if (!closed.signal.aborted) events.lost(reason);
  };
  const connect = async () =>
    readStream(await listen(endpoint, closed.signal), endpoint.url, { message: events.message, lost });
  let postUrl: Promise<URL> | null = null;
  return {
    async send(message, signal) {
      postUrl ??= connect();
      const address = await orAborted(postUrl, signal);
      const headers = { ...(await headersOf(endpoint)), "content-type": "application/json" };
      const body = JSON.stringify(message);
      const response = await sendRequest(
        address,
        { method: "POST", headers, body, lookupFor: endpoint.lookupFor },
        signal,
      );
      if (!isSuccess(response)) throw await refusal(response, endpoint);
      response.resume();
    },
    setProtocolVersion: () => {},
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

const headersOf = async ({ headers, authorization }: HttpEndpoint): Promise<Record<string, string>> => ({
  ...(await authorization.headers()),
  ...headers,
});

/** Tries a second time with new credentials, if there are any. */
async function listen(endpoint: HttpEndpoint, signal: AbortSignal): Promise<IncomingMessage> {
  const ask = async () =>
    sendRequest(
      endpoint.url,
      {
        method: "GET",
        headers: { ...(await headersOf(endpoint)), accept: "text/event-stream" },
        lookupFor: endpoint.lookupFor,
      },
      signal,
    );
  const first = await ask();
  if (isSuccess(first)) return first;
  const challenge = { status: first.statusCode ?? 0, header: first.headers["www-authenticate"] ?? "" };
  if (challenge.status !== 401 || !(await endpoint.authorization.renew(challenge, signal)))
    throw await refusal(first, endpoint);
  first.resume();
  const second = await ask();
  if (isSuccess(second)) return second;
  throw await refusal(second, endpoint);
}

const isSuccess = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 200 && statusCode < 300;

async function refusal(response: IncomingMessage, { authorization }: HttpEndpoint): Promise<Error> {
  const status = response.statusCode ?? 0;
  const body = await readBeginning(response);
  if (status === 401 || status === 403)
    return new Error(`it refused the request (HTTP ${status}); ${authorization.advice}`);
  return new Error(`it answered HTTP ${status}${body ? `: ${body}` : ""}`);
}

/** Settles with the address to post to, which the server sends first; then passes messages on. */
function readStream(stream: IncomingMessage, url: URL, events: ChannelEvents): Promise<URL> {
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
        if (type === "message" && data !== "") parseMessage(data, events.message);
      },
      retry() {},
      tooLong: () => void stream.destroy(),
    });
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => reader.add(text));
    stream.on("error", (error) => end(`its event stream failed: ${error.message}`));
    stream.on("close", () => end("its event stream ended"));
  });
}

/** Of the same origin only: credentials must not go elsewhere. */
function ownAddress(data: string, url: URL, refuse: (reason: string) => void): URL {
  const endpoint = URL.canParse(data, url.href) ? new URL(data, url) : null;
  if (endpoint?.origin !== url.origin) refuse(`it names another origin to post to: ${data.slice(0, 200)}`);
  return endpoint ?? url;
}

function parseMessage(data: string, use: ChannelEvents["message"]): void {
  let value: Parameters<typeof use>[0];
  try {
    value = JSON.parse(data);
  } catch {
    // Not JSON, so not a response: the pending request times out.
    return;
  }
  use(value);
}

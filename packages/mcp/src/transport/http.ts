// A server over streamable HTTP: each message is a POST; the response is JSON or an event stream.
import type { IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { isObject, type Json, type JsonObject } from "../json.ts";
import type { Authorization } from "./authorization.ts";
import type { Channel, ChannelEvents } from "./channel.ts";
import { type HttpRequest, type LookupFor, readBeginning, readBody, sendRequest } from "./http-request.ts";
import { readEvents } from "./sse.ts";

export interface HttpEndpoint {
  url: URL;
  headers: Record<string, string>;
  authorization: Authorization;
  lookupFor?: LookupFor | undefined;
}

/** Attempts per message, each with new credentials. */
const maxAttempts = 3;
/** Failed reconnects of a stream in a row. */
const maxReconnects = 3;
const defaultRetryMs = 1_000;
const minRetryMs = 100;
const maxRetryMs = 30_000;
const endSessionTimeoutMs = 1_000;

// Over 60 lines because its parts share the session, the protocol version and the end of the channel.
export function openHttp({ url, headers, authorization, lookupFor }: HttpEndpoint, events: ChannelEvents): Channel {
  const closed = new AbortController();
  let sessionId: string | undefined;
  let version: string | undefined;

  async function request(options: HttpRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const all = {
      ...(await authorization.headers()),
      ...headers,
      ...options.headers,
      ...(sessionId && { "mcp-session-id": sessionId }),
      ...(version && { "mcp-protocol-version": version }),
    };
    return sendRequest(url, { ...options, headers: all, lookupFor }, signal);
  }

  /** Repeats the request when the server requires (other) credentials and there are some. */
  async function authorized(options: HttpRequest, signal: AbortSignal): Promise<IncomingMessage> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await request(options, signal);
      const challenge = challengeOf(response);
      if (!challenge || attempt === maxAttempts) return response;
      if (!(await authorization.renew(challenge, signal))) return response;
      response.resume();
    }
  }

  async function send(message: JsonObject, signal: AbortSignal): Promise<void> {
    const body = JSON.stringify(message);
    const response = await authorized({ method: "POST", headers: postHeaders, body }, signal);
    const session = response.headers["mcp-session-id"];
    if (typeof session === "string") sessionId = session;
    const status = response.statusCode ?? 0;
    if (status === 404 && sessionId !== undefined) events.lost("it ended the session");
    if (status < 200 || status > 299) throw await refusal(response, authorization.advice);
    if (message.id === undefined || message.method === undefined) {
      response.resume();
      if (message.method === "notifications/initialized") void listen();
      return;
    }
    return receive(response, message.id, signal);
  }

  /** Settles when the response to request `id` has arrived. */
  async function receive(response: IncomingMessage, id: Json, signal: AbortSignal): Promise<void> {
    const type = (response.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase();
    if (type === "text/event-stream") return receiveStream(response, id, signal);
    if (type === "application/json") return events.message(parseJson(await readBody(response)));
    response.destroy();
    throw new Error(`its response has content type ${type || "(none)"}, expected JSON or an event stream`);
  }

  async function receiveStream(response: IncomingMessage, id: Json, signal: AbortSignal): Promise<void> {
    const state = newStreamState();
    await readStream(response, state, id);
    for (let failures = 0; !state.answered; ) {
      signal.throwIfAborted();
      if (state.lastEventId === undefined || failures > maxReconnects) {
        throw new Error("the connection was lost before its response arrived");
      }
      await delay(state.retryMs, undefined, { signal });
      const again = await request(streamRequest(state.lastEventId), signal).catch(() => null);
      failures = again?.statusCode === 200 ? 0 : failures + 1;
      if (again?.statusCode === 200) await readStream(again, state, id);
      else again?.resume();
    }
  }

  /** Passes on the messages of a stream, until its end or the response to request `id`. */
  function readStream(response: IncomingMessage, state: StreamState, id: Json | null): Promise<void> {
    return new Promise((resolve) => {
      const done = () => resolve();
      const reader = readEvents({
        event({ id: eventId, type, data }) {
          if (eventId !== undefined) state.lastEventId = eventId;
          if (type !== "message" || data === "") return;
          const value = parseJsonOr(data, null);
          events.message(value);
          if (id === null || !answers(value, id)) return;
          state.answered = true;
          done();
        },
        retry: (ms) => {
          state.retryMs = Math.min(maxRetryMs, Math.max(minRetryMs, ms));
        },
        tooLong: () => void response.destroy(),
      });
      response.setEncoding("utf8");
      response.on("data", (text: string) => reader.add(text));
      response.on("error", done);
      response.on("close", done);
    });
  }

  /** Reads the server's own messages, if it offers a stream for them. Losing it loses no response. */
  async function listen(): Promise<void> {
    const state = newStreamState();
    for (let failures = 0; failures <= maxReconnects && !closed.signal.aborted; ) {
      const response = await request(streamRequest(state.lastEventId), closed.signal).catch(() => null);
      const status = response?.statusCode ?? 0;
      if (status >= 400) return void response?.resume();
      failures = status === 200 ? 0 : failures + 1;
      if (response && status === 200) await readStream(response, state, null);
      await delay(state.retryMs, undefined, { signal: closed.signal, ref: false }).catch(() => {});
    }
  }

  async function endSession(): Promise<void> {
    if (sessionId === undefined) return;
    const response = await request({ method: "DELETE", headers: {} }, AbortSignal.timeout(endSessionTimeoutMs)).catch(
      () => null,
    );
    response?.resume();
  }

  return {
    send,
    setProtocolVersion(protocolVersion) {
      version = protocolVersion;
    },
    async close() {
      closed.abort();
      await endSession();
    },
  };
}

interface StreamState {
  answered: boolean;
  lastEventId: string | undefined;
  retryMs: number;
}

const newStreamState = (): StreamState => ({ answered: false, lastEventId: undefined, retryMs: defaultRetryMs });

const postHeaders = { "content-type": "application/json", accept: "application/json, text/event-stream" };

const streamRequest = (lastEventId: string | undefined): HttpRequest => ({
  method: "GET",
  headers: { accept: "text/event-stream", ...(lastEventId !== undefined && { "last-event-id": lastEventId }) },
});

function challengeOf({ statusCode = 0, headers }: IncomingMessage) {
  const header = headers["www-authenticate"] ?? "";
  const isChallenge = statusCode === 401 || (statusCode === 403 && header.includes("insufficient_scope"));
  return isChallenge ? { status: statusCode, header } : null;
}

async function refusal(response: IncomingMessage, advice: string): Promise<Error> {
  const status = response.statusCode ?? 0;
  const { location } = response.headers;
  const body = await readBeginning(response);
  if (status === 401 || status === 403) return new Error(`it refused the request (HTTP ${status}); ${advice}`);
  if (location) return new Error(`it redirected (HTTP ${status}) to ${location}; set url to that address`);
  return new Error(`it answered HTTP ${status}${body ? `: ${body}` : ""}`);
}

const answers = (value: Json, id: Json): boolean => isObject(value) && value.id === id && value.method === undefined;

function parseJson(text: string): Json {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`its response is not valid JSON: ${(error as Error).message}`);
  }
}

function parseJsonOr(text: string, otherwise: Json): Json {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}

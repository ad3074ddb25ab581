// A server over streamable HTTP: each message is a POST, answered with JSON or a stream of events.
import type { IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Authorization } from "./authorization.ts";
import type { Channel, ChannelEvents } from "./channel.ts";
import { type Exchange, exchange, type Reach, readBeginning, readBody } from "./exchange.ts";
import { isObject, type Json, type JsonObject } from "./json.ts";
import { readEvents } from "./sse.ts";

export interface HttpPlace {
  url: URL;
  headers: Record<string, string>;
  authorization: Authorization;
  reach?: Reach | undefined;
}

/** How often one message is sent in all, with new credentials each time. */
const mostAttempts = 3;
/** How often in a row a stream that broke off is asked for again in vain. */
const mostReconnects = 3;
const usualRetryMs = 1_000;
const shortestRetryMs = 100;
const longestRetryMs = 30_000;
const goodbyeMs = 1_000;

// Over 60 lines because its parts share the session, the agreed version and the end of the channel.
export function openHttp({ url, headers, authorization, reach }: HttpPlace, events: ChannelEvents): Channel {
  const closed = new AbortController();
  let sessionId: string | undefined;
  let version: string | undefined;

  async function request(what: Exchange, signal: AbortSignal): Promise<IncomingMessage> {
    const all = {
      ...(await authorization.headers()),
      ...headers,
      ...what.headers,
      ...(sessionId && { "mcp-session-id": sessionId }),
      ...(version && { "mcp-protocol-version": version }),
    };
    return exchange(url, { ...what, headers: all, reach }, signal);
  }

  /** Where the server wants (other) credentials and they can be had, the request is made again with them. */
  async function authorized(what: Exchange, signal: AbortSignal): Promise<IncomingMessage> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await request(what, signal);
      const challenge = challengeOf(response);
      if (!challenge || attempt === mostAttempts) return response;
      if (!(await authorization.renew(challenge, signal))) return response;
      response.resume();
    }
  }

  async function send(message: JsonObject, signal: AbortSignal): Promise<void> {
    const body = JSON.stringify(message);
    const response = await authorized({ method: "POST", headers: posting, body }, signal);
    const session = response.headers["mcp-session-id"];
    if (typeof session === "string") sessionId = session;
    const status = response.statusCode ?? 0;
    if (status === 404 && sessionId !== undefined) events.lost("it has forgotten the session");
    if (status < 200 || status > 299) throw await refusal(response, authorization.advice);
    if (message.id === undefined || message.method === undefined) {
      response.resume();
      if (message.method === "notifications/initialized") void listen();
      return;
    }
    return receive(response, message.id, signal);
  }

  /** Settles when the answer to request `id` has come. */
  async function receive(response: IncomingMessage, id: Json, signal: AbortSignal): Promise<void> {
    const type = (response.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase();
    if (type === "text/event-stream") return receiveStream(response, id, signal);
    if (type === "application/json") return events.message(parseJson(await readBody(response)));
    response.destroy();
    throw new Error(`its answer is neither JSON nor an event stream but ${type || "of no type"}`);
  }

  async function receiveStream(response: IncomingMessage, id: Json, signal: AbortSignal): Promise<void> {
    const heard = nothingHeard();
    await hear(response, heard, id);
    for (let failures = 0; !heard.answered; ) {
      signal.throwIfAborted();
      if (heard.lastEventId === undefined || failures > mostReconnects) {
        throw new Error("the connection broke off before its answer came");
      }
      await delay(heard.retryMs, undefined, { signal });
      const again = await request(listening(heard.lastEventId), signal).catch(() => null);
      failures = again?.statusCode === 200 ? 0 : failures + 1;
      if (again?.statusCode === 200) await hear(again, heard, id);
      else again?.resume();
    }
  }

  /** Passes on what comes over a stream, until its end or the answer to request `id`. */
  function hear(response: IncomingMessage, heard: Heard, id: Json | null): Promise<void> {
    return new Promise((resolve) => {
      const done = () => resolve();
      const reader = readEvents({
        event({ id: eventId, type, data }) {
          if (eventId !== undefined) heard.lastEventId = eventId;
          if (type !== "message" || data === "") return;
          const value = parseOr(data, null);
          events.message(value);
          if (id === null || !answers(value, id)) return;
          heard.answered = true;
          done();
        },
        retry: (ms) => {
          heard.retryMs = Math.min(longestRetryMs, Math.max(shortestRetryMs, ms));
        },
        tooLong: () => void response.destroy(),
      });
      response.setEncoding("utf8");
      response.on("data", (text: string) => reader.add(text));
      response.on("error", done);
      response.on("close", done);
    });
  }

  /** Hears what the server says unasked, where it offers that. Losing it loses no answer. */
  async function listen(): Promise<void> {
    const heard = nothingHeard();
    for (let failures = 0; failures <= mostReconnects && !closed.signal.aborted; ) {
      const response = await request(listening(heard.lastEventId), closed.signal).catch(() => null);
      const status = response?.statusCode ?? 0;
      if (status >= 400) return void response?.resume();
      failures = status === 200 ? 0 : failures + 1;
      if (response && status === 200) await hear(response, heard, null);
      await delay(heard.retryMs, undefined, { signal: closed.signal, ref: false }).catch(() => {});
    }
  }

  async function sayGoodbye(): Promise<void> {
    if (sessionId === undefined) return;
    const response = await request({ method: "DELETE", headers: {} }, AbortSignal.timeout(goodbyeMs)).catch(() => null);
    response?.resume();
  }

  return {
    send,
    agreed(protocolVersion) {
      version = protocolVersion;
    },
    async close() {
      closed.abort();
      await sayGoodbye();
    },
  };
}

interface Heard {
  answered: boolean;
  lastEventId: string | undefined;
  retryMs: number;
}

const nothingHeard = (): Heard => ({ answered: false, lastEventId: undefined, retryMs: usualRetryMs });

const posting = { "content-type": "application/json", accept: "application/json, text/event-stream" };

const listening = (lastEventId: string | undefined): Exchange => ({
  method: "GET",
  headers: { accept: "text/event-stream", ...(lastEventId !== undefined && { "last-event-id": lastEventId }) },
});

function challengeOf({ statusCode = 0, headers }: IncomingMessage) {
  const header = headers["www-authenticate"] ?? "";
  const wanted = statusCode === 401 || (statusCode === 403 && header.includes("insufficient_scope"));
  return wanted ? { status: statusCode, header } : null;
}

async function refusal(response: IncomingMessage, advice: string): Promise<Error> {
  const status = response.statusCode ?? 0;
  const { location } = response.headers;
  const said = await readBeginning(response);
  if (status === 401 || status === 403) return new Error(`it refused us (HTTP ${status}); ${advice}`);
  if (location)
    return new Error(`it answered HTTP ${status} and named another address, ${location}; use that one as url`);
  return new Error(`it answered HTTP ${status}${said ? `: ${said}` : ""}`);
}

const answers = (value: Json, id: Json): boolean => isObject(value) && value.id === id && value.method === undefined;

function parseJson(text: string): Json {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`its answer is no JSON: ${(error as Error).message}`);
  }
}

function parseOr(text: string, otherwise: Json): Json {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}

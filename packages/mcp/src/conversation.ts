// A JSON-RPC conversation with one server: requests that always settle, and answers to what the server asks.
import type { OpenChannel } from "./channel.ts";
import { isObject, type Json, type JsonObject, textOf } from "./json.ts";

export type Fault =
  /** The server is gone, or cannot be spoken to any more. */
  | { kind: "lost"; message: string }
  /** It said no, or this one message did not get through. */
  | { kind: "refused"; message: string }
  | { kind: "timed-out"; message: string }
  | { kind: "stopped"; message: string };

export type Answer<Result = JsonObject> = { kind: "result"; result: Result } | { kind: "fault"; fault: Fault };

export interface Question {
  method: string;
  params?: JsonObject;
  /** Longest silence; progress the server reports starts it anew. */
  limitMs: number;
  /** Longest wait in all; null is none. */
  longestMs?: number | null;
}

export interface Conversation {
  ask(question: Question, signal: AbortSignal): Promise<Answer>;
  notify(method: string, params?: JsonObject): void;
  agreed(protocolVersion: string): void;
  close(): Promise<void>;
}

export interface Listener {
  /** Answers a request of the server; null means that the method is unknown. */
  asked(method: string, params: JsonObject): Promise<JsonObject | null>;
  notified(method: string, params: JsonObject): void;
  lost(reason: string): void;
}

interface Pending {
  method: string;
  settle(answer: Answer): void;
  progressed(): void;
}

const methodNotFound = -32601;
const internalError = -32603;

// Over 60 lines because everything in it works on one table of requests that wait for an answer.
export async function openConversation(open: OpenChannel, listener: Listener): Promise<Conversation> {
  const pending = new Map<number, Pending>();
  const ended = new AbortController();
  let lost: Fault | null = null;
  let lastId = 0;

  const lose = (reason: string) => {
    if (lost) return;
    lost = { kind: "lost", message: reason };
    for (const request of [...pending.values()]) request.settle({ kind: "fault", fault: lost });
    listener.lost(reason);
  };
  const channel = await open({
    message: (value) => void (Array.isArray(value) ? value : [value]).forEach(receive),
    lost: lose,
  });
  const tell = (message: JsonObject) => {
    // What cannot be delivered here is noticed by the request that waits, or matters to nobody.
    channel.send({ jsonrpc: "2.0", ...message }, ended.signal).catch(() => {});
  };

  function receive(value: Json): void {
    if (!isObject(value)) return;
    const { id, method } = value;
    const params = isObject(value.params) ? value.params : {};
    if (typeof method === "string") {
      if (id !== undefined && id !== null) void answer(id, method, params);
      else notified(method, params);
    } else if (typeof id === "number") pending.get(id)?.settle(answerOf(value, pending.get(id)?.method ?? ""));
  }

  function notified(method: string, params: JsonObject): void {
    if (method === "notifications/progress") pending.get(Number(params.progressToken))?.progressed();
    listener.notified(method, params);
  }

  async function answer(id: Json, method: string, params: JsonObject): Promise<void> {
    try {
      const result = method === "ping" ? {} : await listener.asked(method, params);
      tell(result ? { id, result } : { id, error: { code: methodNotFound, message: `${method} is not supported` } });
    } catch (error) {
      tell({ id, error: { code: internalError, message: error instanceof Error ? error.message : String(error) } });
    }
  }

  function ask({ method, params = {}, limitMs, longestMs = null }: Question, signal: AbortSignal): Promise<Answer> {
    if (lost) return Promise.resolve({ kind: "fault", fault: lost });
    if (signal.aborted) return Promise.resolve(stopped(method));
    lastId += 1;
    const id = lastId;
    const done = new AbortController();
    return new Promise((resolve) => {
      const giveUp = (answer: Answer, reason: string) => {
        // The protocol forbids cancelling the first request.
        if (method !== "initialize") tell({ method: "notifications/cancelled", params: { requestId: id, reason } });
        settle(answer);
      };
      const patience = openPatience({ limitMs, longestMs }, (waitedMs) =>
        giveUp(timedOut(method, waitedMs), "timed out"),
      );
      const abort = () => giveUp(stopped(method), "stopped");
      const settle = (answer: Answer) => {
        if (!pending.delete(id)) return;
        patience.end();
        signal.removeEventListener("abort", abort);
        done.abort();
        resolve(answer);
      };
      signal.addEventListener("abort", abort);
      pending.set(id, { method, settle, progressed: patience.renew });
      const message = {
        jsonrpc: "2.0",
        id,
        method,
        params: method === "tools/call" ? withProgress(params, id) : params,
      };
      channel.send(message, done.signal).catch((error: Error) => settle(refused(error.message)));
    });
  }

  return {
    ask,
    notify: (method, params) => tell(params ? { method, params } : { method }),
    agreed: channel.agreed,
    async close() {
      lost ??= { kind: "lost", message: "the connection was closed" };
      for (const request of [...pending.values()]) request.settle({ kind: "fault", fault: lost });
      await channel.close();
      ended.abort();
    },
  };
}

function answerOf(message: JsonObject, method: string): Answer {
  if (isObject(message.result)) return { kind: "result", result: message.result };
  if (!isObject(message.error)) return refused(`its answer to ${method} has neither a result nor an error`);
  const code = typeof message.error.code === "number" ? ` (${message.error.code})` : "";
  return refused(`${textOf(message.error.message) ?? "it gave no reason"}${code}`);
}

const withProgress = (params: JsonObject, progressToken: number): JsonObject => ({
  ...params,
  _meta: { ...(isObject(params._meta) ? params._meta : {}), progressToken },
});

const refused = (message: string): Answer => ({ kind: "fault", fault: { kind: "refused", message } });
const stopped = (method: string): Answer => ({
  kind: "fault",
  fault: { kind: "stopped", message: `${method} was stopped` },
});
const timedOut = (method: string, waitedMs: number): Answer => ({
  kind: "fault",
  fault: { kind: "timed-out", message: `it did not answer ${method} within ${Math.round(waitedMs) / 1000} s` },
});

interface Limits {
  limitMs: number;
  longestMs: number | null;
}

/** A timer that is set for longer goes off at once. */
const longestTimerMs = 2 ** 31 - 1;

function openPatience({ limitMs, longestMs }: Limits, onRunOut: (waitedMs: number) => void) {
  const after = (ms: number) => setTimeout(onRunOut, Math.min(ms, longestTimerMs), ms);
  const start = () => after(limitMs);
  const whole = longestMs === null ? undefined : after(longestMs);
  let silence = start();
  return {
    renew() {
      clearTimeout(silence);
      silence = start();
    },
    end() {
      clearTimeout(silence);
      clearTimeout(whole);
    },
  };
}

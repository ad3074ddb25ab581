// JSON-RPC with one server: requests that always settle, and responses to the server's own requests.
import { isObject, type Json, type JsonObject, textOf } from "../json.ts";
import type { OpenChannel } from "../transport/index.ts";

export type Fault =
  /** The server is gone, or the connection to it. */
  | { kind: "lost"; message: string }
  /** The server refused the request, or it could not be delivered. */
  | { kind: "refused"; message: string }
  | { kind: "timed-out"; message: string }
  | { kind: "stopped"; message: string };

export type RpcResponse<Result = JsonObject> = { kind: "result"; result: Result } | { kind: "fault"; fault: Fault };

export interface RpcRequest {
  method: string;
  params?: JsonObject;
  /** Restarted by each progress notification of the server. */
  idleTimeoutMs: number;
  /** Limit for the whole request, progress or not; null for none. */
  maxTotalMs?: number | null;
}

export interface RpcClient {
  request(request: RpcRequest, signal: AbortSignal): Promise<RpcResponse>;
  notify(method: string, params?: JsonObject): void;
  setProtocolVersion(protocolVersion: string): void;
  close(): Promise<void>;
}

export interface RpcHandler {
  /** The result of a request of the server; null if the method is not supported. */
  request(method: string, params: JsonObject): Promise<JsonObject | null>;
  notification(method: string, params: JsonObject): void;
  lost(reason: string): void;
}

interface Pending {
  method: string;
  settle(response: RpcResponse): void;
  progressed(): void;
}

const methodNotFound = -32601;
const internalError = -32603;

// Over 60 lines because all of it works on one table of pending requests.
export async function openRpcClient(open: OpenChannel, handler: RpcHandler): Promise<RpcClient> {
  const pending = new Map<number, Pending>();
  const ended = new AbortController();
  let lost: Fault | null = null;
  let lastId = 0;

  const lose = (reason: string) => {
    if (lost) return;
    lost = { kind: "lost", message: reason };
    for (const request of [...pending.values()]) request.settle({ kind: "fault", fault: lost });
    handler.lost(reason);
  };
  const channel = await open({
    message: (value) => void (Array.isArray(value) ? value : [value]).forEach(receive),
    lost: lose,
  });
  const send = (message: JsonObject) => {
    // A failure to deliver is noticed by the pending request, if there is one.
    channel.send({ jsonrpc: "2.0", ...message }, ended.signal).catch(() => {});
  };

  function receive(value: Json): void {
    if (!isObject(value)) return;
    const { id, method } = value;
    const params = isObject(value.params) ? value.params : {};
    if (typeof method === "string") {
      if (id !== undefined && id !== null) void respond(id, method, params);
      else notified(method, params);
    } else if (typeof id === "number") pending.get(id)?.settle(responseOf(value, pending.get(id)?.method ?? ""));
  }

  function notified(method: string, params: JsonObject): void {
    if (method === "notifications/progress") pending.get(Number(params.progressToken))?.progressed();
    handler.notification(method, params);
  }

  async function respond(id: Json, method: string, params: JsonObject): Promise<void> {
    try {
      const result = method === "ping" ? {} : await handler.request(method, params);
      send(result ? { id, result } : { id, error: { code: methodNotFound, message: `${method} is not supported` } });
    } catch (error) {
      send({ id, error: { code: internalError, message: error instanceof Error ? error.message : String(error) } });
    }
  }

  function request(
    { method, params = {}, idleTimeoutMs, maxTotalMs = null }: RpcRequest,
    signal: AbortSignal,
  ): Promise<RpcResponse> {
    if (lost) return Promise.resolve({ kind: "fault", fault: lost });
    if (signal.aborted) return Promise.resolve(stopped(method));
    lastId += 1;
    const id = lastId;
    const done = new AbortController();
    return new Promise((resolve) => {
      const giveUp = (response: RpcResponse, reason: string) => {
        // The protocol forbids cancelling the first request.
        if (method !== "initialize") send({ method: "notifications/cancelled", params: { requestId: id, reason } });
        settle(response);
      };
      const timer = openRequestTimer({ idleTimeoutMs, maxTotalMs }, (waitedMs) =>
        giveUp(timedOut(method, waitedMs), "timed out"),
      );
      const abort = () => giveUp(stopped(method), "stopped");
      const settle = (response: RpcResponse) => {
        if (!pending.delete(id)) return;
        timer.end();
        signal.removeEventListener("abort", abort);
        done.abort();
        resolve(response);
      };
      signal.addEventListener("abort", abort);
      pending.set(id, { method, settle, progressed: timer.renew });
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
    request,
    notify: (method, params) => send(params ? { method, params } : { method }),
    setProtocolVersion: channel.setProtocolVersion,
    async close() {
      lost ??= { kind: "lost", message: "the connection was closed" };
      for (const request of [...pending.values()]) request.settle({ kind: "fault", fault: lost });
      await channel.close();
      ended.abort();
    },
  };
}

function responseOf(message: JsonObject, method: string): RpcResponse {
  if (isObject(message.result)) return { kind: "result", result: message.result };
  if (!isObject(message.error)) return refused(`its response to ${method} has neither a result nor an error`);
  const code = typeof message.error.code === "number" ? ` (${message.error.code})` : "";
  return refused(`${textOf(message.error.message) ?? "it gave no reason"}${code}`);
}

const withProgress = (params: JsonObject, progressToken: number): JsonObject => ({
  ...params,
  _meta: { ...(isObject(params._meta) ? params._meta : {}), progressToken },
});

const refused = (message: string): RpcResponse => ({ kind: "fault", fault: { kind: "refused", message } });
const stopped = (method: string): RpcResponse => ({
  kind: "fault",
  fault: { kind: "stopped", message: `${method} was cancelled` },
});
const timedOut = (method: string, waitedMs: number): RpcResponse => ({
  kind: "fault",
  fault: { kind: "timed-out", message: `${method} timed out after ${Math.round(waitedMs) / 1000} s` },
});

interface RequestTimeouts {
  idleTimeoutMs: number;
  maxTotalMs: number | null;
}

/** Node fires a timer with a longer delay at once. */
const maxTimerMs = 2 ** 31 - 1;

function openRequestTimer({ idleTimeoutMs, maxTotalMs }: RequestTimeouts, onExpired: (waitedMs: number) => void) {
  const after = (ms: number) => setTimeout(onExpired, Math.min(ms, maxTimerMs), ms);
  const start = () => after(idleTimeoutMs);
  const total = maxTotalMs === null ? undefined : after(maxTotalMs);
  let idle = start();
  return {
    renew() {
      clearTimeout(idle);
      idle = start();
    },
    end() {
      clearTimeout(idle);
      clearTimeout(total);
    },
  };
}

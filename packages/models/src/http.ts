// One request over a kept-alive connection, with timeouts. Always resolves, with how it ended.
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from "node:http";

export interface Post {
  url: URL;
  headers: Record<string, string>;
  body: string;
  /** Absent: POST. */
  method?: "GET";
  /** Timeout for the headers of the response. Infinity: none. */
  firstByteMs: number;
  /** Timeout between the parts of the response that the receiver counts as progress. Infinity: none. */
  idleMs: number;
}

/** Receives the response as it arrives. Its errors are rethrown by `post`. */
export interface Receiver {
  begin(status: number, headers: IncomingHttpHeaders): void;
  /** Only `progress` restarts the idle timeout: bytes alone do not show that the server still works on the response. */
  take(bytes: Buffer): "more" | "progress" | "enough";
}

export type ResponseEnd =
  | { kind: "ended" }
  | { kind: "aborted" }
  | { kind: "silent"; limit: "first-byte" | "idle" }
  /** No response at all. */
  | { kind: "unreachable"; reason: string }
  | { kind: "cut"; reason: string }
  /** The response is not HTTP. */
  | { kind: "garbled"; reason: string }
  /** The request is not valid HTTP: a header has forbidden characters. */
  | { kind: "unsendable"; reason: string };

export async function post(message: Post, receiver: Receiver, signal: AbortSignal): Promise<ResponseEnd> {
  const transport = await openTransport(message.url);
  if (signal.aborted) return { kind: "aborted" };
  const first = await exchange(transport, message, receiver, signal);
  // A server may close a kept-alive connection at the moment of its reuse: the server itself may be fine.
  if (first.kind !== "stale") return first;
  if (signal.aborted) return { kind: "aborted" };
  const second = await exchange({ ...transport, agent: false }, message, receiver, signal);
  return second.kind === "stale" ? { kind: "unreachable", reason: second.reason } : second;
}

interface Transport {
  request: (url: URL, options: RequestOptions) => ClientRequest;
  agent: RequestOptions["agent"];
}

const transports = new Map<string, Transport>();

// Loaded when used: TLS alone adds several milliseconds to a start with plain HTTP.
async function openTransport(url: URL): Promise<Transport> {
  const existing = transports.get(url.protocol);
  if (existing) return existing;
  const { Agent, request } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  const transport = { request, agent: new Agent({ keepAlive: true }) };
  transports.set(url.protocol, transport);
  return transport;
}

type ExchangeEnding = ResponseEnd | { kind: "stale"; reason: string };

async function exchange(
  transport: Transport,
  message: Post,
  receiver: Receiver,
  signal: AbortSignal,
): Promise<ExchangeEnding> {
  const sent = send(transport, message);
  if (sent instanceof Error) return { kind: "unsendable", reason: sent.message };
  const idleTimer = openIdleTimer(message);
  const aborted = openAbort(signal);
  try {
    const ending = await Promise.race([aborted.ending, idleTimer.ending, receive(sent, idleTimer, receiver)]);
    if (ending.kind !== "ended") sent.destroy();
    return ending;
  } catch (error) {
    sent.destroy();
    throw error;
  } finally {
    idleTimer.stop();
    aborted.release();
  }
}

function send({ request, agent }: Transport, { url, headers, body, method }: Post): ClientRequest | TypeError {
  const length = String(Buffer.byteLength(body));
  try {
    if (method) return request(url, { method, agent, headers }).end();
    return request(url, { method: "POST", agent, headers: { ...headers, "content-length": length } }).end(body);
  } catch (error) {
    if (error instanceof TypeError) return error;
    throw error;
  }
}

function receive(sent: ClientRequest, idleTimer: IdleTimer, receiver: Receiver): Promise<ExchangeEnding> {
  return new Promise((resolve, reject) => {
    let begun = false;
    sent.on("error", (error) => resolve(begun ? { kind: "cut", reason: error.message } : failureOf(error, sent)));
    sent.on("response", (response) => {
      begun = true;
      idleTimer.startIdle();
      receiver.begin(response.statusCode ?? 0, response.headers);
      readResponse(response, idleTimer, receiver).then(resolve, reject);
    });
  });
}

function readResponse(response: IncomingMessage, idleTimer: IdleTimer, receiver: Receiver): Promise<ResponseEnd> {
  return new Promise((resolve, reject) => {
    const rest = openRests(response);
    const read = (bytes: Buffer): void => {
      try {
        const startedMs = performance.now();
        const taken = receiver.take(bytes);
        rest(performance.now() - startedMs);
        if (taken === "progress") idleTimer.reset();
        if (taken !== "enough") return;
        response.off("data", read);
        drain(response);
        resolve({ kind: "ended" });
      } catch (error) {
        reject(error);
      }
    };
    response.on("data", read);
    response.on("error", (error) => resolve({ kind: "cut", reason: error.message }));
    response.on("end", () => resolve({ kind: "ended" }));
    response.on("close", () => resolve({ kind: "cut", reason: "the connection was closed" }));
  });
}

/** A fast server fills many buffers in one turn of the event loop: after this long, other work of the program has its turn. */
const readingMs = 5;

function openRests(response: IncomingMessage): (spentMs: number) => void {
  let totalMs = 0;
  return (spentMs) => {
    totalMs += spentMs;
    if (totalMs < readingMs) return;
    totalMs = 0;
    response.pause();
    setImmediate(() => response.resume());
  };
}

function failureOf(error: NodeJS.ErrnoException, sent: ClientRequest): ExchangeEnding {
  const reason = error.message || (error.code ?? "unknown reason");
  if (error.code?.startsWith("HPE_")) return { kind: "garbled", reason };
  return { kind: sent.reusedSocket ? "stale" : "unreachable", reason };
}

// The rest of the response is read to its end, so that the connection can be reused.
const drainMs = 1000;

function drain(response: IncomingMessage): void {
  const timer = setTimeout(() => response.destroy(), drainMs).unref();
  response.once("close", () => clearTimeout(timer));
  response.resume();
}

interface IdleTimer {
  /** Resolves when a timeout expires; otherwise never. */
  ending: Promise<ResponseEnd>;
  /** The response has begun: from now on the idle timeout applies. */
  startIdle(): void;
  reset(): void;
  stop(): void;
}

/** The longest timer of Node, 24 days; a longer one would fire at once. */
const maxTimerMs = 2 ** 31 - 1;

function openIdleTimer({ firstByteMs, idleMs }: Post): IdleTimer {
  let timer: NodeJS.Timeout | undefined;
  let pass: (ending: ResponseEnd) => void;
  const watch = (ms: number, limit: "first-byte" | "idle"): void => {
    clearTimeout(timer);
    timer = ms <= maxTimerMs ? setTimeout(() => pass({ kind: "silent", limit }), ms) : undefined;
  };
  const ending = new Promise<ResponseEnd>((resolve) => {
    pass = resolve;
  });
  watch(firstByteMs, "first-byte");
  return {
    ending,
    startIdle: () => watch(idleMs, "idle"),
    reset: () => timer?.refresh(),
    stop: () => clearTimeout(timer),
  };
}

function openAbort(signal: AbortSignal): { ending: Promise<ResponseEnd>; release(): void } {
  let stop = (): void => {};
  const ending = new Promise<ResponseEnd>((resolve) => {
    stop = () => resolve({ kind: "aborted" });
  });
  signal.addEventListener("abort", stop);
  return { ending, release: () => signal.removeEventListener("abort", stop) };
}

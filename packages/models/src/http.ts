// One POST over a kept-alive connection, with limits on silence. Settles in every case, with the way it ended.
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from "node:http";

export interface Post {
  url: URL;
  headers: Record<string, string>;
  body: string;
  /** Longest wait for the headers of the answer. Infinity: none. */
  firstByteMs: number;
  /** Longest silence within the answer. Infinity: none. */
  idleMs: number;
}

/** Takes the answer as it comes. What it throws, `post` throws. */
export interface Receiver {
  begin(status: number, headers: IncomingHttpHeaders): void;
  take(bytes: Buffer): "more" | "enough";
}

export type Ending =
  | { kind: "ended" }
  | { kind: "aborted" }
  | { kind: "silent"; limit: "first-byte" | "idle" }
  /** Nothing of an answer came. */
  | { kind: "unreachable"; reason: string }
  | { kind: "cut"; reason: string }
  /** What came is not HTTP. */
  | { kind: "garbled"; reason: string }
  /** The request could not be put into HTTP: a header has letters that none may have. */
  | { kind: "unsendable"; reason: string };

export async function post(message: Post, receiver: Receiver, signal: AbortSignal): Promise<Ending> {
  const transport = await openTransport(message.url);
  if (signal.aborted) return { kind: "aborted" };
  const first = await exchange(transport, message, receiver, signal);
  // A server may close a kept-alive connection in the moment it is used again: that says nothing about the server.
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

// Loaded when used: TLS alone costs a plain-HTTP start several milliseconds.
async function openTransport(url: URL): Promise<Transport> {
  const known = transports.get(url.protocol);
  if (known) return known;
  const { Agent, request } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  const transport = { request, agent: new Agent({ keepAlive: true }) };
  transports.set(url.protocol, transport);
  return transport;
}

type Exchanged = Ending | { kind: "stale"; reason: string };

async function exchange(
  transport: Transport,
  message: Post,
  receiver: Receiver,
  signal: AbortSignal,
): Promise<Exchanged> {
  const sent = send(transport, message);
  if (sent instanceof Error) return { kind: "unsendable", reason: sent.message };
  const silence = openSilence(message);
  const stopped = openStop(signal);
  try {
    const ending = await Promise.race([stopped.ending, silence.ending, answered(sent, silence, receiver)]);
    if (ending.kind !== "ended") sent.destroy();
    return ending;
  } catch (error) {
    sent.destroy();
    throw error;
  } finally {
    silence.stop();
    stopped.release();
  }
}

function send({ request, agent }: Transport, { url, headers, body }: Post): ClientRequest | TypeError {
  const length = String(Buffer.byteLength(body));
  try {
    return request(url, { method: "POST", agent, headers: { ...headers, "content-length": length } }).end(body);
  } catch (error) {
    if (error instanceof TypeError) return error;
    throw error;
  }
}

function answered(sent: ClientRequest, silence: Silence, receiver: Receiver): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    let begun = false;
    sent.on("error", (error) => resolve(begun ? { kind: "cut", reason: error.message } : failureOf(error, sent)));
    sent.on("response", (answer) => {
      begun = true;
      silence.begin();
      receiver.begin(answer.statusCode ?? 0, answer.headers);
      readAnswer(answer, silence, receiver).then(resolve, reject);
    });
  });
}

function readAnswer(answer: IncomingMessage, silence: Silence, receiver: Receiver): Promise<Ending> {
  return new Promise((resolve, reject) => {
    const read = (bytes: Buffer): void => {
      silence.noise();
      try {
        if (receiver.take(bytes) === "more") return;
        answer.off("data", read);
        drain(answer);
        resolve({ kind: "ended" });
      } catch (error) {
        reject(error);
      }
    };
    answer.on("data", read);
    answer.on("error", (error) => resolve({ kind: "cut", reason: error.message }));
    answer.on("end", () => resolve({ kind: "ended" }));
    answer.on("close", () => resolve({ kind: "cut", reason: "the connection was closed" }));
  });
}

function failureOf(error: NodeJS.ErrnoException, sent: ClientRequest): Exchanged {
  const reason = error.message || (error.code ?? "unknown reason");
  if (error.code?.startsWith("HPE_")) return { kind: "garbled", reason };
  return { kind: sent.reusedSocket ? "stale" : "unreachable", reason };
}

// What follows the part that mattered is read to its end, so that the connection can be used again.
const drainMs = 1000;

function drain(answer: IncomingMessage): void {
  const giveUp = setTimeout(() => answer.destroy(), drainMs).unref();
  answer.once("close", () => clearTimeout(giveUp));
  answer.resume();
}

interface Silence {
  /** Settles when a limit is passed; otherwise never. */
  ending: Promise<Ending>;
  /** The answer began: from now on the idle limit counts. */
  begin(): void;
  noise(): void;
  stop(): void;
}

/** What a timer of Node can hold, 24 days; a longer one would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

function openSilence({ firstByteMs, idleMs }: Post): Silence {
  let timer: NodeJS.Timeout | undefined;
  let pass: (ending: Ending) => void;
  const watch = (ms: number, limit: "first-byte" | "idle"): void => {
    clearTimeout(timer);
    timer = ms <= longestTimerMs ? setTimeout(() => pass({ kind: "silent", limit }), ms) : undefined;
  };
  const ending = new Promise<Ending>((resolve) => {
    pass = resolve;
  });
  watch(firstByteMs, "first-byte");
  return {
    ending,
    begin: () => watch(idleMs, "idle"),
    noise: () => timer?.refresh(),
    stop: () => clearTimeout(timer),
  };
}

function openStop(signal: AbortSignal): { ending: Promise<Ending>; release(): void } {
  let stop = (): void => {};
  const ending = new Promise<Ending>((resolve) => {
    stop = () => resolve({ kind: "aborted" });
  });
  signal.addEventListener("abort", stop);
  return { ending, release: () => signal.removeEventListener("abort", stop) };
}

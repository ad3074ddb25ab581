// One HTTP request with a time limit, and the frames of an event stream.
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from "node:http";

export interface HttpRequest {
  method: string;
  path: string;
  headers?: OutgoingHttpHeaders;
  body?: string | Buffer;
  /** A response that takes longer counts as a hang. */
  timeoutMs?: number;
}

export interface ApiResponse {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  text: string;
  /** Undefined where the text is not JSON. */
  body: unknown;
}

/** Of an event stream it returns the first chunk and closes the connection. */
export function sendRequest(url: string, options: HttpRequest): Promise<ApiResponse> {
  const { method, path, headers = {}, body, timeoutMs = 90_000 } = options;
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const signal = AbortSignal.timeout(timeoutMs);
    const sent = request({ hostname, port, method, path, headers, signal }, (response) => {
      const isStream = response.headers["content-type"]?.startsWith("text/event-stream") ?? false;
      const chunks: Buffer[] = [];
      const finish = () => {
        const bytes = Buffer.concat(chunks);
        const text = bytes.toString("utf8");
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes, text, body: parseJson(text) });
        if (isStream) sent.destroy();
      };
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        if (isStream) finish();
      });
      response.on("end", finish);
      response.on("error", reject);
    });
    sent.on("error", (error) => {
      const reason = signal.aborted ? `no response within ${timeoutMs} ms` : String(error);
      reject(new Error(`${method} ${path.slice(0, 300)}: ${reason}`, { cause: error }));
    });
    sent.end(body);
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface StreamFrame {
  id: string | undefined;
  event: string;
  data: Record<string, unknown>;
  /** As received, with the empty line behind it. */
  text: string;
}

export interface StreamRequest {
  headers: OutgoingHttpHeaders;
  onText(text: string): void;
  signal: AbortSignal;
}

/** Resolves when the stream ends, is cut off or aborted; rejects on a timeout and on any status but 200. */
export function readStream(url: string, { headers, onText, signal }: StreamRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      if (signal.reason?.name === "TimeoutError") reject(new Error(`GET ${url}: the stream did not end in time`));
      resolve();
    };
    const sent = request(url, { headers, signal }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`GET ${url}: ${response.statusCode}`));
      response.setEncoding("utf8");
      response.on("data", onText);
      response.on("close", settle);
      response.on("error", settle);
    });
    sent.on("error", settle);
    sent.end();
  });
}

/** Calls back with each whole frame of the texts that are passed to the returned function. */
export function splitFrames(onFrame: (frame: StreamFrame) => void): (text: string) => void {
  let rest = "";
  return (text) => {
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) onFrame(parseFrame(block));
  };
}

export function parseFrames(text: string): StreamFrame[] {
  const frames: StreamFrame[] = [];
  splitFrames((frame) => frames.push(frame))(text);
  return frames;
}

function parseFrame(block: string): StreamFrame {
  const fields = Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s)));
  return { id: fields.id, event: fields.event ?? "", data: JSON.parse(fields.data ?? "{}"), text: `${block}\n\n` };
}

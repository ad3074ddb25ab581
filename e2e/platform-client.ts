// Speaks to a platform as clients do: requests with a limit, streams as text and as frames.
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from "node:http";

export interface Wish {
  method: string;
  path: string;
  headers?: OutgoingHttpHeaders;
  body?: string | Buffer;
  /** An answer that takes longer is a hang. */
  limitMs?: number;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** Undefined where the text is not JSON. */
  body: unknown;
}

/** Of a stream it takes what comes first and leaves. */
export function send(url: string, { method, path, headers = {}, body, limitMs = 20_000 }: Wish): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const signal = AbortSignal.timeout(limitMs);
    const asked = request({ hostname, port, method, path, headers, signal }, (response) => {
      const isStream = response.headers["content-type"]?.startsWith("text/event-stream") ?? false;
      const pieces: Buffer[] = [];
      const finish = () => {
        const text = Buffer.concat(pieces).toString("utf8");
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: parsed(text) });
        if (isStream) asked.destroy();
      };
      response.on("data", (piece: Buffer) => {
        pieces.push(piece);
        if (isStream) finish();
      });
      response.on("end", finish);
      response.on("error", reject);
    });
    asked.on("error", (error) => {
      const why = signal.aborted ? `no answer within ${limitMs} ms` : String(error);
      reject(new Error(`${method} ${path.slice(0, 300)}: ${why}`, { cause: error }));
    });
    asked.end(body);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface Client {
  url: string;
  key: string;
  get(path: string, headers?: OutgoingHttpHeaders): Promise<Answer>;
  /** Sends JSON where there is a body. */
  post(path: string, body?: unknown, headers?: OutgoingHttpHeaders): Promise<Answer>;
  delete(path: string): Promise<Answer>;
  /** A new agent without a repository, unless more is wished for. */
  create(prompt: string, more?: object): Promise<Made>;
  followUp(agentId: string, prompt: string): Promise<Made>;
  /** All of a run's stream, to its end. */
  stream(made: Made, lastEventId?: string): Promise<string>;
  /** The run, once it has ended. */
  ended(made: Made): Promise<Run>;
}

export interface Made {
  agentId: string;
  runId: string;
}

export interface Run {
  id: string;
  status: string;
  result?: string;
  error?: { code: string; message: string };
  durationMs?: number;
  git?: { branches: { repoUrl: string; branch?: string; prUrl?: string }[] };
}

export function clientOf(url: string, key: string): Client {
  const authorization = `Bearer ${key}`;
  const get: Client["get"] = (path, headers) =>
    send(url, { method: "GET", path, headers: { authorization, ...headers } });
  const post: Client["post"] = (path, body, headers) =>
    send(url, {
      method: "POST",
      path,
      headers: { authorization, ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const stream: Client["stream"] = ({ agentId, runId }, lastEventId) =>
    readStream(`${url}/v1/agents/${agentId}/runs/${runId}/stream`, {
      authorization,
      ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
    });
  return {
    url,
    key,
    get,
    post,
    delete: (path) => send(url, { method: "DELETE", path, headers: { authorization } }),
    async create(prompt, more) {
      const answer = await post("/v1/agents", { prompt: { text: prompt }, ...more });
      const { agent, run } = expected(answer) as { agent: { id: string }; run: { id: string } };
      return { agentId: agent.id, runId: run.id };
    },
    async followUp(agentId, prompt) {
      const answer = await post(`/v1/agents/${agentId}/runs`, { prompt: { text: prompt } });
      return { agentId, runId: (expected(answer) as { run: { id: string } }).run.id };
    },
    stream,
    async ended(made) {
      await stream(made);
      return expected(await get(`/v1/agents/${made.agentId}/runs/${made.runId}`)) as Run;
    },
  };
}

function expected({ status, text, body }: Answer): unknown {
  if (status !== 200) throw new Error(`answered ${status}: ${text}`);
  return body;
}

export function readStream(url: string, headers: OutgoingHttpHeaders): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers, signal: AbortSignal.timeout(60_000) }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("end", () => resolve(Buffer.concat(pieces).toString("utf8")));
      response.on("error", reject);
    });
    asked.on("error", reject);
    asked.end();
  });
}

export interface ReadFrame {
  id: string | undefined;
  event: string;
  data: Record<string, unknown>;
  /** As it came, with the empty line behind it. */
  text: string;
}

export const framesOf = (text: string): ReadFrame[] =>
  text
    .split("\n\n")
    .filter((block) => block !== "")
    .map((block) => {
      const fields = Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s)));
      return { id: fields.id, event: fields.event, data: JSON.parse(fields.data), text: `${block}\n\n` };
    });

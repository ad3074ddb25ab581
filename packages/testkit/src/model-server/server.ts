// A model server on 127.0.0.1 that replies from a script and logs its requests.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { refusalOf } from "./anthropic-rules.ts";
import { openScript, type Picker } from "./pick.ts";
import { type ModelRequest, play, sendStatus } from "./play.ts";
import { openPromptCache, type PromptUse } from "./prompt-cache.ts";
import { parseScript, type Reply, type Script } from "./script.ts";

export interface LoggedRequest {
  index: number;
  /** Milliseconds since 1970. */
  atMs: number;
  method: string;
  path: string;
  headers: Record<string, string | string[] | undefined>;
  /** Parsed where it is JSON, text otherwise. */
  body: unknown;
  /** What a provider that keeps prompts would read from its cache, and write to it. */
  prompt?: PromptUse;
}

export interface ModelServer {
  /** Base URL for a provider, ending in /v1. */
  url: string;
  requests(): LoggedRequest[];
  /** Ends open responses; resolves when all connections are closed. May be called again. */
  close(): Promise<void>;
}

/** Decides by the body of each request, as a model does. Undefined: nothing is left to say. */
export type Answering = Picker["next"];

export interface ModelServerOptions {
  port?: number;
  /** Called for each request before it is answered. */
  onRequest?: (request: LoggedRequest) => void;
  /** `computed`: replies without usage get the one of a provider that keeps prompts. Absent: as the script says. */
  usage?: "computed";
}

export async function startModelServer(
  script: Script | Reply[] | Answering,
  options: ModelServerOptions = {},
): Promise<ModelServer> {
  const requests: LoggedRequest[] = [];
  const picker = typeof script === "function" ? { next: script } : openScript(parseScript(script));
  const answer = respondFrom(picker, options.usage === "computed" ? openPromptCache() : null);
  const server = createServer((request, response) => {
    receive(request)
      .then(({ received, text }) => {
        const logged = { index: requests.length, ...received };
        requests.push(logged);
        options.onRequest?.(logged);
        return answer(logged, text, response);
      })
      .catch((error: unknown) => response.destroy(error instanceof Error ? error : new Error(String(error))));
  });
  const port = await listen(server, options.port ?? 0);
  return { url: `http://127.0.0.1:${port}/v1`, requests: () => [...requests], close: () => close(server) };
}

type Responder = (request: LoggedRequest, text: string, response: ServerResponse) => Promise<void>;

function respondFrom(picker: Picker, cache: ReturnType<typeof openPromptCache> | null): Responder {
  let answered = 0;
  return async (request, text, response) => {
    if (request.method === "GET" && request.path.endsWith("/models")) return sendStatus(response, modelList);
    if (request.path.endsWith("/messages/count_tokens")) return sendStatus(response, counted(text));
    const wire = wireOf(request);
    if (!wire) return sendStatus(response, notFound(request));
    if (typeof request.body !== "object") return sendStatus(response, notJson);
    const refusal = wire === "anthropic" ? refusalOf(request.headers, request.body) : undefined;
    if (refusal) return sendStatus(response, { status: 400, body: anthropicError("invalid_request_error", refusal) });
    const number = answered++;
    const reply = picker.next(text);
    if (!reply) return sendStatus(response, exhausted(number));
    if (cache) request.prompt = cache(wire, request.body);
    await playUntilGone(withUsage(reply, request.prompt), { wire, number, ...requestOptions(request.body) }, response);
  };
}

const withUsage = (reply: Reply, prompt: PromptUse | undefined): Reply =>
  prompt && !("status" in reply) && !("garbage" in reply) && reply.usage === undefined
    ? { ...reply, usage: { ...prompt } }
    : reply;

async function playUntilGone(reply: Reply, request: ModelRequest, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  try {
    await play(reply, request, { response, gone: gone.signal });
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
}

function wireOf({ method, path }: LoggedRequest): ModelRequest["wire"] | undefined {
  const { pathname } = new URL(path, "http://127.0.0.1");
  if (method !== "POST") return undefined;
  if (pathname.endsWith("/responses")) return "responses";
  if (pathname.endsWith("/messages")) return "anthropic";
  return pathname.endsWith("/chat/completions") ? "chat" : undefined;
}

interface WireBody {
  model?: unknown;
  stream?: unknown;
  stream_options?: { include_usage?: unknown } | null;
}

function requestOptions(body: unknown): Pick<ModelRequest, "model" | "form" | "usage"> {
  const { model, stream, stream_options }: WireBody = body ?? {};
  return {
    model: typeof model === "string" ? model : "scripted",
    form: stream === true ? "stream" : "object",
    usage: stream_options?.include_usage === true ? "with-usage" : "without-usage",
  };
}

const modelList = {
  status: 200,
  body: { object: "list", data: [{ id: "scripted", object: "model", created: 0, owned_by: "testkit" }] },
};

/** About four characters each. */
const counted = (text: string) => ({ status: 200, body: { input_tokens: Math.ceil(text.length / 4) } });

const anthropicError = (type: string, message: string) => ({ type: "error", error: { type, message } });

const errorBody = (code: string, message: string) => ({ error: { message, type: code, code } });

const notJson = { status: 400, body: errorBody("invalid_json", "The body of the request is not a JSON object.") };

const notFound = ({ method, path }: LoggedRequest) => ({
  status: 404,
  body: errorBody(
    "not_found",
    `${method} ${path} is not served here: POST …/responses, …/chat/completions or …/messages.`,
  ),
});

const exhausted = (number: number) => ({
  status: 500,
  body: errorBody(
    "script_exhausted",
    `The script is exhausted: no reply is left for model request ${number + 1}. Add one, or set "repeat".`,
  ),
});

async function receive(request: IncomingMessage): Promise<{ received: Omit<LoggedRequest, "index">; text: string }> {
  const atMs = Date.now();
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("utf8");
  const { method = "", url = "", headers } = request;
  return { received: { atMs, method, path: url, headers: { ...headers }, body: parseBody(text) }, text };
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return (server.address() as AddressInfo).port;
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve, reject) => server.close((error) => (error ? reject(error) : resolve())));
  server.closeAllConnections();
  await closed;
}

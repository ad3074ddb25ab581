// The platform as something to ask: requests with the caller's key, answers as values, everything else as an error.
import type { IncomingMessage } from "node:http";
import { AuthenticationError, ConfigurationError, NetworkError, PlatformSdkError, RateLimitError } from "./errors.ts";
import { exchange, readBody } from "./http.ts";
import { readLogin } from "./login.ts";
import type { ConnectionOptions } from "./options.ts";
import { errorFrom } from "./refusal.ts";
import type { Runtime } from "./runtime.ts";
import { version } from "./version.ts";

export interface Request {
  /** The call of this package, for errors. */
  operation: string;
  method: "GET" | "POST" | "DELETE";
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: object;
  /** Makes asking again safe: what was asked is done once. */
  idempotencyKey?: string;
  lastEventId?: string;
  /** What fails for the moment is asked again, `never` where the caller has its own way of waiting. */
  retry?: "transient" | "never";
}

export interface Connection {
  /** The answer, which is a JSON object. */
  ask<Answer>(request: Request, signal: AbortSignal): Promise<Answer>;
  /** The bytes of an event stream. Ends, or throws, where the connection does. */
  open(request: Request, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** What lies at an address that needs no key. */
  download(url: string, operation: string, signal: AbortSignal): Promise<Buffer>;
}

const defaultUrl = "http://127.0.0.1:7420";
const silenceMs = 60_000;
const retryMs = [500, 1_000];
const maxRetryMs = 10_000;

/** Where the platform is, and the key it is asked with. */
export function accessOf(options: ConnectionOptions, variables: Runtime["variables"]): { origin: string; key: string } {
  const given = options.apiKey ?? (variables.PLATFORM_API_KEY || undefined);
  const login = given === undefined ? readLogin(variables) : undefined;
  const address = options.backendUrl ?? (variables.PLATFORM_BACKEND_URL || undefined) ?? login?.backendUrl;
  const origin = originOf(address ?? defaultUrl);
  const key = given ?? (login?.backendUrl === origin ? login.apiKey : undefined);
  if (!key) throw missingKey(options.apiKey);
  return { origin, key };
}

export function openConnection(options: ConnectionOptions, { variables, clock }: Runtime): Connection {
  const { origin, key } = accessOf(options, variables);

  async function send(request: Request, accept: string, signal: AbortSignal): Promise<IncomingMessage> {
    const { body, idempotencyKey, lastEventId } = request;
    const url = urlOf(origin, request);
    const headers = {
      authorization: `Bearer ${key}`,
      accept,
      "user-agent": `platform-sdk/${version}`,
      "x-platform-client-type": "sdk",
      "x-platform-client-version": `sdk-${version}`,
      ...(body && { "content-type": "application/json" }),
      ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
      ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
    };
    const json = body && { body: JSON.stringify(body) };
    const answer = await exchange({ method: request.method, url, headers, ...json, silenceMs }, signal);
    if (isSuccess(answer)) return answer;
    throw await refused(answer, { endpoint: endpointOf(request), operation: request.operation });
  }

  async function once<Answer>(request: Request, signal: AbortSignal): Promise<Answer> {
    return named(request, signal, async () => {
      const answer = await send(request, "application/json", signal);
      return objectIn((await readBody(answer)).toString("utf8")) as Answer;
    });
  }

  return {
    async ask<Answer>(request: Request, signal: AbortSignal): Promise<Answer> {
      for (const delayMs of request.retry === "never" ? [] : retryMs) {
        try {
          return await once<Answer>(request, signal);
        } catch (error) {
          const pauseMs = pauseAfter(error, request, delayMs);
          if (pauseMs === null) throw error;
          await clock.wait(pauseMs, signal);
        }
      }
      return once<Answer>(request, signal);
    },
    open: (request, signal) => named(request, signal, () => send(request, "text/event-stream", signal)),
    download(url, operation, signal) {
      const request: Request = { operation, method: "GET", path: url };
      return named(request, signal, async () => {
        const answer = await exchange({ method: "GET", url: new URL(url), headers: {}, silenceMs }, signal);
        // Without the address: it gives access to the file.
        if (!isSuccess(answer)) throw await refused(answer, { endpoint: "GET of a link", operation });
        return readBody(answer);
      });
    },
  };
}

/** Errors of sockets and of reading become ours, with what was being attempted. */
async function named<Value>(request: Request, signal: AbortSignal, attempt: () => Promise<Value>): Promise<Value> {
  try {
    return await attempt();
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw cause instanceof PlatformSdkError ? cause : unreachable(request, cause);
  }
}

export function unreachable({ operation, method, path }: Request, cause: unknown): NetworkError {
  const why = cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code : String(cause);
  const endpoint = endpointOf({ method, path });
  const advice = "Check PLATFORM_BACKEND_URL and that the platform runs.";
  return new NetworkError(`${endpoint} did not respond: ${why}. ${advice}`, {
    ...{ code: "network", isRetryable: true, endpoint, operation, cause },
  });
}

/** Null where asking again would not help, or could do the thing twice. */
function pauseAfter(error: unknown, { method, idempotencyKey }: Request, delayMs: number): number | null {
  if (!(error instanceof NetworkError || error instanceof RateLimitError)) return null;
  if (method === "POST" && idempotencyKey === undefined) return null;
  const retryMs = error instanceof RateLimitError ? (error.retryAfterMs ?? delayMs) : delayMs;
  return retryMs <= maxRetryMs ? retryMs : null;
}

const isSuccess = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 200 && statusCode < 300;

async function refused(answer: IncomingMessage, asked: { endpoint: string; operation: string }) {
  const { "retry-after": retryAfter, "x-request-id": requestId } = answer.headers;
  const body = (await readBody(answer)).toString("utf8");
  const id = Array.isArray(requestId) ? requestId[0] : requestId;
  return errorFrom({ status: answer.statusCode ?? 0, body, retryAfter, requestId: id, ...asked });
}

function objectIn(text: string): object {
  const value: unknown = JSON.parse(text);
  if (typeof value === "object" && value !== null) return value;
  throw new Error("the answer is not a JSON object");
}

function urlOf(origin: string, { path, query = {} }: Request): URL {
  const url = new URL(`${origin}${path}`);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  return url;
}

const endpointOf = ({ method, path }: Pick<Request, "method" | "path">): string => `${method} ${path}`;

function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && /^https?:$/.test(url.protocol)) return text.replace(/\/+$/, "");
  throw new ConfigurationError(`${JSON.stringify(text)} is not the address of a platform. Set PLATFORM_BACKEND_URL.`, {
    code: "invalid_option",
  });
}

function missingKey(given: string | undefined): AuthenticationError {
  const which = given === undefined ? "No API key is set." : "apiKey is empty.";
  const advice =
    "Create one with `platform keys create` and pass it as apiKey, in PLATFORM_API_KEY, or once to Platform.auth.login.";
  return new AuthenticationError(`${which} ${advice}`, { code: "unauthorized" });
}

// Requests to the platform's API with the session of the browser.
import { session } from "./session.ts";

/** A refusal of the server, with its code and a message for people. */
export class RequestError extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export interface RequestOptions {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  body?: unknown;
  /** The same request sent twice under one key is done once. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

export async function request<Answer>(path: string, options: RequestOptions = {}): Promise<Answer> {
  const { method = "GET", body, idempotencyKey, signal } = options;
  const response = await send(path, {
    method,
    headers: {
      accept: "application/json",
      ...(method !== "GET" && { "x-csrf-token": session.formToken }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  if (!response.ok) throw await readRefusal(response);
  return response.status === 204 ? (undefined as Answer) : ((await response.json()) as Answer);
}

export interface TaggedAnswer<Answer> {
  tag: string;
  answer: Answer;
}

/** Reads again only what has changed since `before`. */
export async function requestChanged<Answer>(
  path: string,
  before: TaggedAnswer<Answer> | undefined,
  signal: AbortSignal,
): Promise<TaggedAnswer<Answer>> {
  const headers = { accept: "application/json", ...(before && { "if-none-match": before.tag }) };
  const response = await send(path, { headers, signal, cache: "no-store" });
  if (before && response.status === 304) return before;
  if (!response.ok) throw await readRefusal(response);
  return { tag: response.headers.get("etag") ?? "", answer: (await response.json()) as Answer };
}

async function send(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new RequestError(0, "offline", "The server cannot be reached. Check your connection; this is tried again.");
  }
}

export async function readRefusal(response: Response): Promise<RequestError> {
  const { status } = response;
  if (status === 401) return new RequestError(401, "unauthorized", "Your session has ended. Log in again.");
  const body: unknown = await response.json().catch(() => null);
  const { code = "unknown", message = `The server answered ${status}. Try again.` } =
    (body as { error?: { code?: string; message?: string } } | null)?.error ?? {};
  return new RequestError(status, code, message);
}

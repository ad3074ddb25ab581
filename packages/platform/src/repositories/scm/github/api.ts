// Client of GitHub's API: requests have a timeout, are retried if that is safe, and fail with a message for users.
import { setTimeout as sleep } from "node:timers/promises";
import type { Octokit } from "@octokit/core";
import type { Endpoints } from "@octokit/types";
import { RepositoryFault, type RepositoryFaultCode } from "../../git/index.ts";

type Route = keyof Endpoints;

export interface ApiRequest<R extends Route> {
  route: R;
  parameters: Endpoints[R]["parameters"];
  /** An access token, or the app's JWT. */
  token: string;
}

export interface GithubApi {
  octokit(): Promise<Octokit>;
  /** Throws GithubRefusal, or the signal's reason. */
  request<R extends Route>(request: ApiRequest<R>, signal: AbortSignal): Promise<Endpoints[R]["response"]["data"]>;
  /** With the cursor of the next page; null at the end. Throws like `request`. */
  requestPage<R extends Route>(request: ApiRequest<R>, signal: AbortSignal): Promise<ApiPage<R>>;
  /** The end of a text that GitHub redirects to. Throws like `request`. */
  readEnd(request: { path: string; token: string; maxCharacters: number }, signal: AbortSignal): Promise<string>;
}

export interface ApiPage<R extends Route> {
  data: Endpoints[R]["response"]["data"];
  next: string | null;
}

/** GitHub's error response; status 0 if there was no response. */
export class GithubRefusal extends Error {
  override name = "GithubRefusal";
  readonly status: number;

  constructor(status: number, message: string, options: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

const responseTimeoutMs = 30_000;
const maxRetryDelayMs = 60_000;
const retryDelaysMs = [1_000, 4_000];

export function openGithubApi(baseUrl: string): GithubApi {
  let opened: Promise<Octokit> | undefined;
  const octokit = (): Promise<Octokit> => {
    opened ??= open(baseUrl);
    return opened;
  };
  return {
    octokit,
    readEnd: ({ path, ...request }, signal) => readEnd({ url: `${baseUrl}${path}`, ...request }, signal),
    request: async (request, signal) => (await respond(request, signal)).data,
    async requestPage(request, signal) {
      const { data, headers } = await respond(request, signal);
      const [, next = null] = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/.exec(headers.link ?? "") ?? [];
      return { data, next };
    },
  };
  async function respond<R extends Route>({ route, parameters, token }: ApiRequest<R>, signal: AbortSignal) {
    const { request } = await octokit();
    const send = request as (route: string, options: object) => Promise<ApiResponse>;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await send(route, {
          ...parameters,
          headers: { authorization: `Bearer ${token}`, "x-github-api-version": "2022-11-28" },
          request: { signal: AbortSignal.any([signal, AbortSignal.timeout(responseTimeoutMs)]) },
        });
      } catch (error) {
        signal.throwIfAborted();
        const waitMs = retryDelayOf(error, route, attempt);
        if (waitMs === undefined) throw refusalOf(error);
        await sleep(waitMs, undefined, { signal });
      }
    }
  }
}

interface ApiResponse {
  data: never;
  headers: Record<string, string | undefined>;
}

const maxTextBytes = 64 * 1024 * 1024;

/** The token does not reach another origin that GitHub redirects to. */
async function readEnd(
  { url, token, maxCharacters }: { url: string; token: string; maxCharacters: number },
  signal: AbortSignal,
): Promise<string> {
  const timed = AbortSignal.any([signal, AbortSignal.timeout(responseTimeoutMs)]);
  try {
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal: timed });
    if (!response.ok) throw new GithubRefusal(response.status, response.statusText, {});
    const decoder = new TextDecoder();
    let [end, bytes] = ["", 0];
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      end = (end + decoder.decode(chunk, { stream: true })).slice(-maxCharacters);
      if (bytes > maxTextBytes) break;
    }
    return end;
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof GithubRefusal ? error : new GithubRefusal(0, (error as Error).message, { cause: error });
  }
}

async function open(baseUrl: string): Promise<Octokit> {
  const { Octokit } = await import("@octokit/core");
  const silent = () => {};
  return new Octokit({
    baseUrl,
    userAgent: "platform",
    log: { debug: silent, info: silent, warn: silent, error: silent },
  });
}

/** Requests that are idempotent: repeating one has no further effect. */
const repeatable = /^(?:GET|PATCH|PUT|DELETE) |\/(?:pulls|requested_reviewers|access_tokens)$/;

/** Undefined if a retry would be useless or unsafe. */
function retryDelayOf(error: unknown, route: string, attempt: number): number | undefined {
  const defaultMs = retryDelaysMs[attempt];
  if (defaultMs === undefined) return undefined;
  const { status = 0, response } = error as OctokitError;
  const retryAfterMs = retryAfterOf(response?.headers ?? {});
  // A rate-limited request was not executed, so any route may be retried.
  if (status === 429 || (status === 403 && retryAfterMs !== undefined))
    return (retryAfterMs ?? defaultMs) > maxRetryDelayMs ? undefined : (retryAfterMs ?? defaultMs);
  if (!repeatable.test(route)) return undefined;
  return status === 0 || status >= 500 ? defaultMs : undefined;
}

/** The delay that the response headers request; undefined if they request none. */
function retryAfterOf(headers: Record<string, string | undefined>): number | undefined {
  if (headers["retry-after"] !== undefined) return Number(headers["retry-after"]) * 1_000 || 0;
  if (headers["x-ratelimit-remaining"] !== "0") return undefined;
  return Math.max(0, Number(headers["x-ratelimit-reset"]) * 1_000 - Date.now() + 1_000) || 0;
}

interface OctokitError extends Error {
  status?: number;
  response?: { headers: Record<string, string | undefined>; data?: unknown };
}

function refusalOf(error: unknown): GithubRefusal {
  const { status = 0, message, response } = error as OctokitError;
  // Octokit reports 500 if there was no response.
  return new GithubRefusal(response === undefined ? 0 : status, messageOf(response?.data) || message, { cause: error });
}

/** The message, followed by the errors of individual fields. */
function messageOf(data: unknown): string {
  const { message, errors } = (data ?? {}) as { message?: unknown; errors?: unknown };
  const details = Array.isArray(errors) ? errors.map(detailOf) : typeof errors === "string" ? [errors] : [];
  return [message, ...details].filter((text) => typeof text === "string" && text !== "").join("; ");
}

function detailOf(error: unknown): unknown {
  if (typeof error !== "object" || error === null) return error;
  const { message, field, code } = error as { message?: string; field?: string; code?: string };
  return message ?? [field, code].filter(Boolean).join(" is ");
}

export interface Attempt {
  /** The attempted action, phrased to follow "could not": "open a pull request in o/r". */
  what: string;
  code: RepositoryFaultCode;
}

/** Other errors, such as a signal's reason, are returned unchanged. */
export function githubFault(error: unknown, { what, code }: Attempt): unknown {
  if (!(error instanceof GithubRefusal)) return error;
  const remedy = remedyOf(error);
  const message = `The platform could not ${what}: ${error.message.slice(0, 500).replace(/\.$/, "")}. ${remedy}`;
  return new RepositoryFault(code, message, { cause: error });
}

function remedyOf({ status, message }: GithubRefusal): string {
  if (status === 401) return "An administrator must check the credentials under [source_hosts.github].";
  if (status === 429 || /rate limit/i.test(message)) return "The rate limit was reached; try again later.";
  if (status === 403 || status === 404) return "Check the address, and that the platform was given access.";
  if (status === 0 || status >= 500) return "GitHub is failing; try again later.";
  return "Fix that, then send a follow-up.";
}

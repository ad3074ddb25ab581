// Errors as answers. Errors that are not the caller's are logged in full and answered without detail.
import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import { isDatabaseAway } from "../db/index.ts";
import { isStorageFull } from "../storage/index.ts";
import type { Log } from "../telemetry/index.ts";
import { KeyServiceFault } from "../vault/index.ts";
import { ApiError } from "./api-error.ts";
import type { Env } from "./env.ts";

export function answerError(problem: ApiError): Response {
  const { code, message, status, extra } = problem;
  const headers = new Headers({ "content-type": "application/json", "cache-control": "no-store" });
  if (extra.retryAfter !== undefined) headers.set("retry-after", String(extra.retryAfter));
  if (code === "unauthorized") headers.set("www-authenticate", 'Bearer, Basic realm="platform", charset="UTF-8"');
  for (const [name, value] of Object.entries(extra.headers ?? {})) headers.set(name, value);
  return new Response(JSON.stringify({ error: { code, message, ...extra.members } }), { status, headers });
}

export function toApiError(error: unknown, context: Context<Env>, log: Log): ApiError {
  if (error instanceof ApiError) return error;
  // Refused by hono itself, such as a path that cannot be decoded.
  if (error instanceof HTTPException && error.status < 500)
    return new ApiError("validation_error", "The request cannot be read.");
  const requestId = context.get("requestId");
  if (isDatabaseAway(error)) {
    log.warn("http.database_away", { requestId, route: context.get("route"), reason: (error as Error).message });
    const message = "The database did not answer; the request may or may not have been executed. Try again.";
    return new ApiError("unavailable", message, { retryAfter: 1 });
  }
  if (isStorageFull(error)) {
    log.warn("http.storage_full", { requestId, route: context.get("route"), code: "storage_full" });
    const message = "storage_full: the disk of the server is full. Ask an administrator to free space, then try again.";
    return new ApiError("unavailable", message, { retryAfter: 30 });
  }
  if (error instanceof KeyServiceFault) {
    const { code, reason, message } = error;
    log.warn("http.key_service", { requestId, route: context.get("route"), code, cause: reason, message });
    const text = `${code}: the service that keeps the key of the platform did not answer, or refused. Ask an administrator, or try again.`;
    return new ApiError("unavailable", text, { retryAfter: 10 });
  }
  log.error("http.failed", error, { requestId, route: context.get("route") });
  return new ApiError("internal", `Internal error, logged as request ${requestId}. Try again.`);
}

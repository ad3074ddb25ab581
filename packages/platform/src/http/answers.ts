// Problems as answers. What is not a problem of the caller's making is logged in full and answered without detail.
import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import { isDatabaseAway } from "../db/index.ts";
import type { Log } from "../telemetry/index.ts";
import { ApiProblem } from "./problem.ts";
import type { Env } from "./route.ts";

export function answerProblem(problem: ApiProblem): Response {
  const { code, message, status, extra } = problem;
  const headers = new Headers({ "content-type": "application/json", "cache-control": "no-store" });
  if (extra.retryAfter !== undefined) headers.set("retry-after", String(extra.retryAfter));
  if (code === "unauthorized") headers.set("www-authenticate", 'Bearer, Basic realm="platform", charset="UTF-8"');
  for (const [name, value] of Object.entries(extra.headers ?? {})) headers.set(name, value);
  return new Response(JSON.stringify({ error: { code, message, ...extra.members } }), { status, headers });
}

export function problemOf(error: unknown, context: Context<Env>, log: Log): ApiProblem {
  if (error instanceof ApiProblem) return error;
  // What hono itself refuses, such as a path that cannot be decoded.
  if (error instanceof HTTPException && error.status < 500)
    return new ApiProblem("validation_error", "The request cannot be read.");
  const requestId = context.get("requestId");
  if (isDatabaseAway(error)) {
    log.warn("http.database_away", { requestId, route: context.get("route"), reason: (error as Error).message });
    const message = "The database did not answer; what was asked for may or may not have been done. Please try again.";
    return new ApiProblem("unavailable", message, { retryAfter: 1 });
  }
  log.error("http.failed", error, { requestId, route: context.get("route") });
  return new ApiProblem("internal", `Something failed here. It is logged as request ${requestId}; please try again.`);
}

// Gives each request an id; at its end, returns the slots it held and records its outcome in log and metrics.
import { randomUUID } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import { actingForRequest } from "../db/index.ts";
import type { Log, Metrics } from "../telemetry/index.ts";
import type { Env } from "./env.ts";

const acceptable = /^[\w.:-]{1,128}$/;

export interface FollowOptions {
  log: Log;
  metrics: Metrics;
  /** Of each query of a request. */
  queryTimeoutMs: number;
}

export function followRequests({ log, metrics, queryTimeoutMs }: FollowOptions): MiddlewareHandler<Env> {
  const counted = metrics.counter("http_requests_total", "Requests by route and status");
  const timed = metrics.duration("http_request_duration_seconds", "Time from request to the end of the answer");
  return async (context, next) => {
    const { incoming, outgoing } = context.env;
    const begin = performance.now();
    const sent = incoming.headers["x-request-id"];
    const requestId = typeof sent === "string" && acceptable.test(sent) ? sent : randomUUID();
    context.set("requestId", requestId);
    context.set("route", "other");
    // On Node's answer, so that routes which write there themselves carry it too.
    outgoing.setHeader("x-request-id", requestId);
    const slots: (() => void)[] = [];
    context.set("slots", slots);
    // The only listener: Node warns at eleven, and git's streams add nearly as many.
    outgoing.once("close", () => {
      for (const release of slots) release();
      const seconds = (performance.now() - begin) / 1_000;
      // The path could hold what a person wrote; the route cannot.
      const { statusCode: status } = outgoing;
      const method = incoming.method ?? "";
      const route = context.get("route");
      counted.add({ method, route, status: String(status) });
      timed.observe(seconds, { route });
      const { teamId, keyId } = context.get("principal") ?? {};
      const durationMs = Math.round(seconds * 1_000);
      log.info("http.request", { requestId, method, route, status, durationMs, teamId, keyId });
    });
    await actingForRequest(queryTimeoutMs, next);
  };
}

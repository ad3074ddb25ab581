// `GET /v1/environments/{id}/builds/{buildId}/logs`: the log so far as text, or as Server-Sent Events until the build has ended.
import type { ServerResponse } from "node:http";
import type { Context } from "hono";
import {
  type Api,
  ApiError,
  alreadySent,
  drained,
  type Env,
  type PlatformContext,
  teamKey,
} from "../../foundation/index.ts";
import type { Principal } from "../../identity/index.ts";
import { type LogTarget, readLog, readWholeLog } from "../builds/log.ts";
import { findBuild } from "../builds/store.ts";
import type { EnvironmentHost } from "../host.ts";

import { oneBuild } from "./builds.ts";
import { tag } from "./environments.ts";

const scope = "agents:read";

export function addLogRoute(api: Api, host: EnvironmentHost): void {
  const authenticateAgain = async (context: Context<Env>): Promise<Principal> => {
    const { principal, lacks } = await host.authenticate(context);
    if (!principal.scopes.includes(scope)) throw new ApiError("forbidden", lacks(scope));
    return principal;
  };
  api.route(
    {
      method: "get",
      path: "/v1/environments/{environmentId}/builds/{buildId}/logs",
      summary: "Read the log of a build; with Accept: text/event-stream it is followed until the build has ended",
      tag,
      scope,
      params: oneBuild,
      answer: { status: 200, contentType: "text/plain", description: "The log so far" },
      problems: ["environment_not_found", "build_not_found", "invalid_last_event_id"],
    },
    ({ context, params, principal }) =>
      answerLog(context, { ...params, principal, authenticate: () => authenticateAgain(context) }, host),
  );
}

export interface LogRequest {
  environmentId: string;
  buildId: string;
  principal: Principal;
  /** Throws ApiError if the request would be refused now. */
  authenticate(): Promise<Principal>;
}

/** Also used by pages, where a cookie authenticates the request. */
export async function answerLog(
  context: Context<Env>,
  request: LogRequest,
  { platform, access }: Pick<EnvironmentHost, "platform" | "access">,
): Promise<Response> {
  const { db, vault } = platform;
  const check = async (principal: Principal) => {
    const environment = await access.find(principal, request.environmentId, "read");
    return { environment, build: await findBuild(db, environment.id, request.buildId) };
  };
  const { environment, build } = await check(request.principal);
  const target = { buildId: build.id, key: await teamKey(db, vault, environment.team_id) };
  if (!(context.req.header("accept") ?? "").includes("text/event-stream")) return sendText(context, platform, target);
  const after = afterOf(context.req.header("last-event-id"));
  return follow(context, {
    platform,
    target,
    after,
    check: async () => void (await check(await request.authenticate())),
  });
}

function afterOf(lastEventId: string | undefined): number {
  if (lastEventId === undefined || lastEventId === "") return 0;
  if (/^\d{1,9}$/.test(lastEventId)) return Number(lastEventId);
  throw new ApiError("invalid_last_event_id", `Last-Event-ID ${lastEventId.slice(0, 64)} does not belong to this log.`);
}

interface Following {
  platform: PlatformContext;
  target: LogTarget;
  /** The last piece that the reader received. */
  after: number;
  /** Throws ApiError where the reader has lost access. */
  check(): Promise<void>;
}

/** Aborted when the reader is gone. */
function goneSignal(outgoing: ServerResponse): AbortSignal {
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  if (outgoing.destroyed) gone.abort();
  return gone.signal;
}

/** As fast as the reader takes it: a log in memory for each slow reader would fill that of the server. */
function sendText(context: Context<Env>, { db, log }: PlatformContext, target: LogTarget): Response {
  const { outgoing } = context.env;
  const signal = goneSignal(outgoing);
  outgoing.writeHead(200, {
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "x-request-id": context.get("requestId"),
  });
  const sendAll = async (): Promise<void> => {
    for await (const { text } of readWholeLog(db, target)) {
      if (signal.aborted) return;
      if (!outgoing.write(text)) await drained(outgoing, signal);
    }
    outgoing.end();
  };
  sendAll().catch((error: unknown) => {
    log.error("log ended early", error, { buildId: target.buildId });
    outgoing.destroy();
  });
  return alreadySent();
}

type SendEvent = (event: string, data: object, id?: number) => Promise<void>;

function follow(context: Context<Env>, following: Following): Response {
  const { outgoing } = context.env;
  const signal = goneSignal(outgoing);
  outgoing.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    "x-request-id": context.get("requestId"),
  });
  const send: SendEvent = async (event, data, id) => {
    const frame = `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    if (!outgoing.write(frame)) await drained(outgoing, signal);
  };
  const beat = () => outgoing.writableNeedDrain || void send("heartbeat", {});
  const beating = setInterval(beat, heartbeatMs);
  const { log } = following.platform;
  sendUntilEnd(following, send, signal)
    .catch((error: unknown) => log.error("log stream ended early", error, { buildId: following.target.buildId }))
    .finally(() => {
      clearInterval(beating);
      outgoing.end();
    });
  return alreadySent();
}

const heartbeatMs = 15_000;
const checkMs = 5_000;
/** Beside notifications, of which one may be lost. */
const pollMs = 1_000;

async function sendUntilEnd(
  { platform, target, after, check }: Following,
  send: SendEvent,
  signal: AbortSignal,
): Promise<void> {
  const { db, notifications } = platform;
  let wake = (): void => {};
  const onMessage = (buildId: string): void => void (buildId === target.buildId && wake());
  const unlisten = await notifications.subscribe("environment_build_logs", { onMessage, onGap: () => wake() });
  const polling = setInterval(() => wake(), pollMs);
  signal.addEventListener("abort", () => wake(), { once: true });
  let position = after;
  let checkedAt = Date.now();
  try {
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (Date.now() - checkedAt > checkMs) {
        if (!(await stillAllowed(check))) return;
        checkedAt = Date.now();
      }
      // Before its log: what a build wrote before it ended is there then.
      const status = await statusOf(platform, target.buildId);
      const pieces = await readLog(db, target, position);
      for (const { seq, at, text } of pieces) await send("log", { seq, at: at.toISOString(), text }, seq);
      position = pieces.at(-1)?.seq ?? position;
      if (pieces.length > 0) continue;
      if (status !== "IN_PROGRESS") {
        await send("status", { buildId: target.buildId, status: status ?? "CANCELLED" });
        return send("done", {});
      }
      await woken;
    }
  } finally {
    clearInterval(polling);
    unlisten();
  }
}

/** Undefined where the environment was deleted. */
const statusOf = async ({ db }: PlatformContext, buildId: string) =>
  (await db.selectFrom("environment_builds").select("status").where("id", "=", buildId).executeTakeFirst())?.status;

/** An unreachable database or host does not revoke access; the next check tries again. */
async function stillAllowed(check: () => Promise<void>): Promise<boolean> {
  try {
    await check();
    return true;
  } catch (error) {
    return !(error instanceof ApiError) || error.status >= 500;
  }
}

// `GET /v1/agents/{id}/runs/{runId}/stream`: Server-Sent Events, exact to the character after every reconnect.
import type { ServerResponse } from "node:http";
import { AgentId, RunId } from "@agentcli/protocol/api";
import type { Context } from "hono";
import { z } from "zod";
import { type Api, ApiProblem, alreadySent, authenticate, type Env } from "../http/index.ts";
import type { Platform } from "../platform.ts";
import type { Principal } from "../principals/index.ts";
import { openSessionDoor } from "../sessions/index.ts";
import { encodeWithoutId, isLast } from "./frame.ts";
import type { Hub } from "./hub.ts";
import { type Reader, watchReader } from "./reader.ts";
import { findEvent } from "./store.ts";

const heartbeatMs = 15_000;

const scope = "agents:read";
const params = z.object({ id: z.string(), runId: z.string() });

export interface StreamHost {
  platform: Platform;
  hub: Hub;
  /** Throws ApiProblem where the principal may not read the agent. */
  checkReader(principal: Principal, agentId: string): Promise<void>;
}

export function addStreamRoute(api: Api, host: StreamHost): void {
  const { principals, sessions, settings } = host.platform;
  const doors = { principals, door: openSessionDoor(sessions, settings) };
  const whoAsks = async (context: Context<Env>): Promise<Principal> => {
    const { principal, lacks } = await authenticate(context, doors);
    if (!principal.scopes.includes(scope)) throw new ApiProblem("forbidden", lacks(scope));
    return principal;
  };
  api.route(
    {
      method: "get",
      path: "/v1/agents/{id}/runs/{runId}/stream",
      summary: "Follow a run as Server-Sent Events",
      tag: "Runs",
      scope,
      sharing: "read",
      params,
      answer: { status: 200, contentType: "text/event-stream", description: "Frames until the run is over" },
      problems: ["run_not_found", "invalid_last_event_id", "stream_expired"],
    },
    ({ context, params: { id, runId }, principal }) =>
      streamRun(context, { ...host, principal, whoAsks: () => whoAsks(context), agentId: id, runId }),
  );
}

export interface StreamWish extends StreamHost, Reader {
  principal: Principal;
  runId: string;
}

/** Also for pages, where a cookie says who asks. */
export async function streamRun(context: Context<Env>, wish: StreamWish): Promise<Response> {
  const run = await findRun(wish);
  const start = await startOf(wish.platform, run.id, context.req.header("last-event-id"));
  return stream(context, { ...wish, run, start });
}

interface StreamedRun {
  id: string;
  status: string;
  ended_at: Date | null;
}

async function findRun(wish: StreamWish): Promise<StreamedRun> {
  const { db, settings } = wish.platform;
  const id = wish.agentId.toLowerCase();
  const runId = wish.runId.toLowerCase();
  if (!AgentId.safeParse(id).success) throw new ApiProblem("agent_not_found", `There is no agent ${id}.`);
  await wish.checkReader(wish.principal, id);
  const run = RunId.safeParse(runId).success
    ? await db
        .selectFrom("runs")
        .select(["id", "status", "ended_at"])
        .where("id", "=", runId)
        .where("agent_id", "=", id)
        .executeTakeFirst()
    : undefined;
  if (!run) throw new ApiProblem("run_not_found", `Agent ${id} has no run ${runId}.`);
  if (isExpired(run, settings.streamRetentionSeconds))
    throw new ApiProblem("stream_expired", `The stream of ${runId} is no longer kept; read the run itself.`);
  return run;
}

const isExpired = ({ ended_at }: StreamedRun, retentionSeconds: number): boolean =>
  ended_at !== null && Date.now() - ended_at.getTime() > retentionSeconds * 1000;

interface Start {
  /** The last frame that the reader has. */
  after: number;
  /** With it the reader has all there will be. */
  isEnd: boolean;
}

async function startOf({ db }: Platform, runId: string, lastEventId: string | undefined): Promise<Start> {
  if (lastEventId === undefined || lastEventId === "") return { after: 0, isEnd: false };
  const last = lastEventId.length > 64 ? null : await findEvent(db, runId, lastEventId);
  if (last === null)
    throw new ApiProblem("invalid_last_event_id", `Last-Event-ID ${lastEventId.slice(0, 64)} is not of this run.`);
  return { after: last.seq, isEnd: isLast(last) };
}

interface Streaming extends Reader {
  platform: Platform;
  hub: Hub;
  run: StreamedRun;
  start: Start;
}

/** Written on Node's own response: a stream object per reader costs twice the time and memory. */
function stream(context: Context<Env>, { platform, hub, run, start, ...reader }: Streaming): Response {
  const { outgoing } = context.env;
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  // Whoever has left while the run was looked up is not told of again.
  if (outgoing.destroyed) gone.abort();
  const retention = String(platform.settings.streamRetentionSeconds);
  outgoing.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    "x-request-id": context.get("requestId"),
    "x-platform-stream-retention-seconds": retention,
    "x-cursor-stream-retention-seconds": retention,
  });
  if (context.req.method === "HEAD") {
    outgoing.end();
    return alreadySent();
  }
  outgoing.write(encodeWithoutId("status", { runId: run.id, status: run.status }));
  if (start.isEnd) {
    // It may have been cut off between the last two frames, which have one id.
    outgoing.end(encodeWithoutId("done", {}));
    return alreadySent();
  }
  const beat = () => outgoing.writableNeedDrain || outgoing.write(encodeWithoutId("heartbeat", {}));
  const beating = setInterval(beat, heartbeatMs);
  const watching = watchReader(reader, () => gone.abort());
  send(outgoing, hub, { runId: run.id, after: start.after, signal: gone.signal })
    .catch((error: unknown) => platform.log.error("stream ended early", error, { runId: run.id }))
    .finally(() => {
      clearInterval(beating);
      watching.stop();
      outgoing.end();
    });
  return alreadySent();
}

async function send(
  outgoing: ServerResponse,
  hub: Hub,
  { runId, after, signal }: { runId: string; after: number; signal: AbortSignal },
): Promise<void> {
  for await (const { bytes } of hub.read(runId, after, signal)) {
    if (!outgoing.write(bytes)) await drained(outgoing, signal);
  }
}

/** A reader that is slow holds one batch and no more; meanwhile its place in the stream waits in the database. */
function drained(outgoing: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off("drain", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    if (signal.aborted) return done();
    outgoing.on("drain", done);
    signal.addEventListener("abort", done);
  });
}

// `GET /v1/agents/{id}/runs/{runId}/stream`: Server-Sent Events, without loss or repetition after a reconnect.
import type { ServerResponse } from "node:http";
import { agentIdPattern, runIdPattern } from "@agentcli/protocol/api";
import type { Context } from "hono";
import { z } from "zod";
import {
  type Api,
  ApiError,
  type Authenticate,
  alreadySent,
  drained,
  type Env,
  type PlatformContext,
  schema,
} from "../../foundation/index.ts";
import type { Principal } from "../../identity/index.ts";
import type { FindReadableAgent } from "../agent-reader.ts";
import { encodeWithoutId, isLast } from "./frame.ts";
import type { Batch, Hub } from "./hub.ts";
import { type Reader, watchReader } from "./reader.ts";
import { type FrameSelection, findEvent } from "./store.ts";

const heartbeatMs = 15_000;

const scope = "agents:read";
const params = () => z.object({ id: z.string(), runId: z.string() });

export interface StreamHost {
  platform: PlatformContext;
  hub: Hub;
  /** Throws ApiError if the principal may not read the agent. */
  findAgent: FindReadableAgent;
}

export function addStreamRoute(api: Api, host: StreamHost, authenticate: Authenticate): void {
  const whoAsks = async (context: Context<Env>): Promise<Principal> => {
    const { principal, lacks } = await authenticate(context);
    if (!principal.scopes.includes(scope)) throw new ApiError("forbidden", lacks(scope));
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
      query: schema("stream", "StreamQuery"),
      answer: { status: 200, contentType: "text/event-stream", description: "Frames until the run is over" },
      problems: ["run_not_found", "invalid_last_event_id", "stream_expired"],
    },
    ({ context, params: { id, runId }, query: { details }, principal }) =>
      streamRun(context, {
        ...{ ...host, principal, authenticate: () => whoAsks(context) },
        ...{ agentId: id, runId, selection: details ? "all" : "brief" },
      }),
  );
}

export interface StreamRequest extends StreamHost, Reader {
  principal: Principal;
  runId: string;
  selection: FrameSelection;
}

/** Also used by pages, where a cookie authenticates the request. */
export async function streamRun(context: Context<Env>, request: StreamRequest): Promise<Response> {
  const run = await findRun(request);
  const start = await startOf(request.platform, run.id, context.req.header("last-event-id"));
  return stream(context, { ...request, run, start });
}

interface StreamedRun {
  id: string;
  status: string;
  ended_at: Date | null;
  stream_removed_at: Date | null;
}

async function findRun(request: StreamRequest): Promise<StreamedRun> {
  const { db, settings } = request.platform;
  const id = request.agentId.toLowerCase();
  const runId = request.runId.toLowerCase();
  if (!agentIdPattern.test(id)) throw new ApiError("agent_not_found", `There is no agent ${id}.`);
  await request.findAgent(request.principal, id);
  const run = runIdPattern.test(runId)
    ? await db
        .selectFrom("runs")
        .select(["id", "status", "ended_at", "stream_removed_at"])
        .where("id", "=", runId)
        .where("agent_id", "=", id)
        .executeTakeFirst()
    : undefined;
  if (!run) throw new ApiError("run_not_found", `Agent ${id} has no run ${runId}.`);
  if (isExpired(run, settings.streamRetentionSeconds))
    throw new ApiError("stream_expired", `The stream of ${runId} is no longer kept; read the run itself.`);
  return run;
}

/** A stream that was removed does not come back with a longer retention. */
const isExpired = ({ ended_at, stream_removed_at }: StreamedRun, retentionSeconds: number): boolean =>
  stream_removed_at !== null || (ended_at !== null && Date.now() - ended_at.getTime() > retentionSeconds * 1000);

interface Start {
  /** The last frame that the reader received. */
  after: number;
  /** The reader already has the last frame of the run. */
  isEnd: boolean;
}

async function startOf({ db }: PlatformContext, runId: string, lastEventId: string | undefined): Promise<Start> {
  if (lastEventId === undefined || lastEventId === "") return { after: 0, isEnd: false };
  const last = lastEventId.length > 64 ? null : await findEvent(db, runId, lastEventId);
  if (last === null)
    throw new ApiError(
      "invalid_last_event_id",
      `Last-Event-ID ${lastEventId.slice(0, 64)} does not belong to this run.`,
    );
  return { after: last.seq, isEnd: isLast(last) };
}

interface StreamOptions extends Reader {
  platform: PlatformContext;
  hub: Hub;
  run: StreamedRun;
  start: Start;
  selection: FrameSelection;
}

/** Writes to Node's own response: a stream object per reader costs twice the time and memory. */
function stream(context: Context<Env>, { platform, hub, run, start, selection, ...reader }: StreamOptions): Response {
  const { outgoing } = context.env;
  const disconnected = new AbortController();
  outgoing.on("close", () => disconnected.abort());
  // If the client disconnected during the lookup, no further event reports it.
  if (outgoing.destroyed) disconnected.abort();
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
    // The client may have disconnected between the last two frames, which share an id.
    outgoing.end(encodeWithoutId("done", {}));
    return alreadySent();
  }
  const beat = () => outgoing.writableNeedDrain || outgoing.write(encodeWithoutId("heartbeat", {}));
  const beating = setInterval(beat, heartbeatMs);
  const accessWatch = watchReader(reader, () => disconnected.abort());
  send(outgoing, hub.read({ runId: run.id, after: start.after, selection }, disconnected.signal), disconnected.signal)
    .catch((error: unknown) => platform.log.error("stream ended early", error, { runId: run.id }))
    .finally(() => {
      clearInterval(beating);
      accessWatch.stop();
      outgoing.end();
    });
  return alreadySent();
}

/** A slow reader holds at most one batch in memory; the rest of its stream stays in the database. */
async function send(outgoing: ServerResponse, batches: AsyncIterable<Batch>, signal: AbortSignal): Promise<void> {
  for await (const { bytes } of batches) {
    if (!outgoing.write(bytes)) await drained(outgoing, signal);
  }
}

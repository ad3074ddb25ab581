// `GET /v1/overview/agents` as Server-Sent Events: says that the list has changed, so that pages need not ask again and again.
import type { Context } from "hono";
import { type Kysely, sql } from "kysely";
import { alreadySent, type Env, type PlatformContext, type Tables } from "../../foundation/index.ts";

export type WatchList = (context: Context<Env>, teamId: number) => Response;

const heartbeatMs = 15_000;
const lookMs = 1_000;
/** Then the reader connects again, and is authenticated again. What is sent until then tells nothing about any agent. */
const maxMs = 60_000;

export function openListWatch({ db, log }: PlatformContext): WatchList {
  const versions = shareVersions(db);
  return (context, teamId) => {
    const { outgoing } = context.env;
    const gone = new AbortController();
    outgoing.on("close", () => gone.abort());
    if (outgoing.destroyed) gone.abort();
    outgoing.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
      "x-request-id": context.get("requestId"),
    });
    const send = (event: string, id: string) => void outgoing.write(`id: ${id}\nevent: ${event}\ndata: {}\n\n`);
    const last = context.req.header("last-event-id") ?? "";
    const watching =
      context.req.method === "HEAD"
        ? Promise.resolve()
        : sendChanges({ read: () => versions(teamId), send, last }, gone.signal);
    void watching
      .catch((error: unknown) => log.error("stream of changes ended early", error, { teamId }))
      .finally(() => outgoing.end());
    return alreadySent();
  };
}

interface ChangeStream {
  read(): Promise<string>;
  send(event: "current" | "changed" | "heartbeat", version: string): void;
  /** What the reader has seen; empty for a new one. */
  last: string;
}

async function sendChanges({ read, send, last }: ChangeStream, signal: AbortSignal): Promise<void> {
  const startedAt = performance.now();
  let [known, sentAt] = [last, performance.now()];
  while (!signal.aborted && performance.now() - startedAt < maxMs) {
    const version = await read();
    const isBeatDue = performance.now() - sentAt >= heartbeatMs;
    if (version !== known || isBeatDue) {
      send(version === known ? "heartbeat" : known === "" ? "current" : "changed", version);
      [known, sentAt] = [version, performance.now()];
    }
    await pause(signal);
  }
}

const pause = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, lookMs);
    signal.addEventListener("abort", end);
  });

/** Readers of one team share each look into the database. */
function shareVersions(db: Kysely<Tables>): (teamId: number) => Promise<string> {
  const recent = new Map<number, { at: number; version: Promise<string> }>();
  return (teamId) => {
    const now = performance.now();
    for (const [team, { at }] of recent) if (now - at >= lookMs) recent.delete(team);
    const shared = recent.get(teamId) ?? { at: now, version: readVersion(db, teamId) };
    recent.set(teamId, shared);
    return shared.version;
  };
}

/** So many agents, the newest, are on the first pages of the list; a page reads older ones again now and then. */
const watchedAgents = 200;

async function readVersion(db: Kysely<Tables>, teamId: number): Promise<string> {
  const { rows } = await sql<{ version: string }>`
    select md5(coalesce(string_agg(concat_ws(' ', newest.id, newest.name, newest.archived_at, newest.updated_at,
      runs.status, runs.updated_at, handed.urls), ',' order by newest.id), '')) as version
    from (
      select id, name, archived_at, updated_at, latest_run_id from agents
      where team_id = ${teamId} order by created_at desc, id desc limit ${watchedAgents}
    ) newest
    left join runs on runs.id = newest.latest_run_id
    left join lateral (
      select string_agg(coalesce(pr_url, branch), ' ' order by branch) as urls
      from handoffs where agent_id = newest.id
    ) handed on true
  `.execute(db);
  return rows[0]?.version ?? "";
}

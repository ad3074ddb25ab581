// Pending requests: the list, and a stream of what changes after it.
import type { PendingList, PendingQuery } from "@agentcli/protocol/api";
import type { Context } from "hono";
import { type Api, ApiError, decodeCursor, type Env, encodeCursor, schema } from "../../foundation/index.ts";
import { databaseNow, encodeStreamCursor } from "../cursor.ts";
import { isPending, type PoolRequest, readPoolRequests } from "../pending.ts";
import type { PoolOwner } from "../pools.ts";
import { type Base, type FleetHost, ownerOf } from "./host.ts";

const scope = "agents:read";

export function addPendingRoutes(api: Api, host: FleetHost, { workers, tag }: Base): void {
  const path = `${workers}/pending-requests`;
  api.route(
    {
      ...{ method: "get", path, tag, scope, query: schema("workers", "PendingQuery") },
      summary: "List requests that wait for a worker of a pool, the longest waiting first",
      answer: {
        status: 200,
        schema: schema("workers", "PendingList"),
        description: "A page, and the cursor of the stream",
      },
    },
    ({ principal, query }) => listPending(host, ownerOf(principal), query),
  );
  api.route(
    {
      ...{ method: "get", path: `${path}/stream`, tag, scope, query: schema("workers", "PendingStreamQuery") },
      summary: "Follow pending requests as Server-Sent Events, from the streamCursor of the list",
      answer: { status: 200, contentType: "text/event-stream", description: "Events until the client disconnects" },
      problems: ["cursor_expired"],
    },
    ({ principal, query: { cursor, ...filter }, context, header }) =>
      host.watch(context, {
        ...ownerOf(principal),
        filter,
        cursor: header("last-event-id") || cursor,
        authenticate: () => authenticateAgain(host, context),
      }),
  );
}

async function authenticateAgain({ authenticate }: FleetHost, context: Context<Env>): Promise<void> {
  const { principal, lacks } = await authenticate(context);
  if (!principal.scopes.includes(scope)) throw new ApiError("forbidden", lacks(scope));
}

/** Stamped before it is visible: a request may appear this long after the moment that its row names. */
const overlapMs = 2_000;

async function listPending(
  { platform: { db } }: FleetHost,
  owner: PoolOwner,
  query: PendingQuery,
): Promise<PendingList> {
  const { limit, pageToken, ...filter } = query;
  const after = decodeCursor(pageToken);
  const nowMs = await databaseNow(db);
  const all = (await readPoolRequests(db, owner, filter)).filter(isPending);
  const left = after === null ? all : all.filter((one) => isAfter(one, after));
  const page = left.slice(0, limit);
  const last = page.at(-1)?.request;
  const newest = Math.max(nowMs - overlapMs, ...all.slice(-1).map(({ request }) => request.createdAtMs));
  return {
    requests: page.map(({ request }) => request),
    ...(left.length > limit &&
      last && { nextPageToken: encodeCursor({ createdAt: new Date(last.createdAtMs), id: last.id }) }),
    streamCursor: encodeStreamCursor({ issuedAtMs: nowMs, positionMs: newest }),
  };
}

const isAfter = ({ request }: PoolRequest, { createdAt, id }: { createdAt: Date; id: string }): boolean =>
  request.createdAtMs > createdAt.getTime() || (request.createdAtMs === createdAt.getTime() && request.id > id);

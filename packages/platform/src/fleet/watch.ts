// The stream of pending requests: what changes after the list, as Server-Sent Events, until the reader goes.
import type { Context } from "hono";
import { ApiError, alreadySent, type Env, type ServerContext } from "../foundation/index.ts";
import { databaseNow, decodeStreamCursor, encodeStreamCursor, type StreamCursor } from "./cursor.ts";
import { knownAt, type PendingFilter, pendingEvents, readPoolRequests } from "./pending.ts";
import type { PoolOwner } from "./pools.ts";

export interface WatchRequest extends PoolOwner {
  filter: PendingFilter;
  /** Of the list, or of the last event. */
  cursor: string | undefined;
  /** Throws ApiError if the request would be refused now. */
  authenticate(): Promise<unknown>;
}

export type WatchPending = (context: Context<Env>, request: WatchRequest) => Promise<Response>;

/** Of one service account, on one server. */
const maxStreams = 4;
const heartbeatMs = 20_000;
const checkMs = 5_000;
/** Beside notifications, of which one may be lost. */
const pollMs = 2_000;
/** At most so often, however many runs begin. */
const pauseMs = 100;

export function openWatch(platform: ServerContext): WatchPending {
  const open = new Map<string, number>();
  return async (context, request) => {
    const { serviceAccountId: account } = request;
    const cursor = decodeStreamCursor(request.cursor, await databaseNow(platform.db));
    const count = open.get(account) ?? 0;
    if (count >= maxStreams)
      throw new ApiError("rate_limited", `This service account has ${maxStreams} streams already. Close one first.`, {
        retryAfter: 1,
      });
    open.set(account, count + 1);
    const isHead = context.req.method === "HEAD";
    const { outgoing, signal } = beginStream(context);
    const watching = isHead ? Promise.resolve() : watch(platform, { ...request, cursor }, { outgoing, signal });
    void watching
      .catch((error: unknown) => platform.log.error("stream of pending requests ended early", error, { account }))
      .finally(() => {
        open.set(account, (open.get(account) ?? 1) - 1);
        outgoing.end();
      });
    return alreadySent();
  };
}

interface Output {
  outgoing: Env["Bindings"]["outgoing"];
  signal: AbortSignal;
}

function beginStream(context: Context<Env>): Output {
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
  return { outgoing, signal: gone.signal };
}

async function watch(
  { db, notifications }: ServerContext,
  { filter, cursor, authenticate, ...owner }: Omit<WatchRequest, "cursor"> & { cursor: StreamCursor },
  { outgoing, signal }: Output,
): Promise<void> {
  const send = (event: string, data: object, positionMs: number): void =>
    void outgoing.write(
      `event: ${event}\nid: ${encodeStreamCursor({ ...cursor, positionMs })}\ndata: ${JSON.stringify(data)}\n\n`,
    );
  outgoing.write(": connected\n\n");
  const timer = wakeTimer(signal);
  const listener = { onMessage: timer.wake, onGap: timer.wake };
  const unlisten = await Promise.all(["runs", "workers"].map((channel) => notifications.subscribe(channel, listener)));
  let known = knownAt(await readPoolRequests(db, owner, filter), cursor.positionMs);
  let [beatAt, checkedAt] = [performance.now(), performance.now()];
  try {
    while (!signal.aborted) {
      const nowMs = await databaseNow(db);
      const current = await readPoolRequests(db, owner, filter);
      for (const { event, data } of pendingEvents(known, current)) send(event, data, nowMs);
      known = current;
      if (performance.now() - beatAt >= heartbeatMs) {
        send("heartbeat", {}, nowMs);
        beatAt = performance.now();
      }
      // A reader that does not read is dropped: the list is the truth.
      if (outgoing.writableLength > maxUnsentBytes) return;
      await timer.next();
      if (performance.now() - checkedAt < checkMs) continue;
      if (!(await isAllowed(authenticate))) return;
      checkedAt = performance.now();
    }
  } finally {
    for (const end of unlisten) end();
  }
}

const maxUnsentBytes = 4 * 1024 * 1024;

const isAllowed = (authenticate: () => Promise<unknown>): Promise<boolean> =>
  authenticate().then(
    () => true,
    (error: unknown) => !(error instanceof ApiError),
  );

/** `next` settles when it is woken, when it is time to look again, or at the end; not twice within a short while. */
function wakeTimer(signal: AbortSignal): { wake(): void; next(): Promise<void> } {
  let isWoken = false;
  let resolve = (): void => {};
  const wake = (): void => {
    isWoken = true;
    resolve();
  };
  return {
    wake,
    async next() {
      await new Promise<void>((done) => void setTimeout(done, pauseMs));
      if (!isWoken && !signal.aborted)
        await new Promise<void>((done) => {
          const timeout = setTimeout(() => resolve(), pollMs);
          resolve = () => {
            clearTimeout(timeout);
            signal.removeEventListener("abort", resolve);
            done();
          };
          signal.addEventListener("abort", resolve);
        });
      isWoken = false;
    },
  };
}

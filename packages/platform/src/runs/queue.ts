// The runs that wait and the runs in progress, of all servers of the database.
import { type Kysely, sql } from "kysely";
import type { Metrics, Tables } from "../foundation/index.ts";

export interface RunQueue {
  queued: number;
  /** Of the run that waits longest; 0 if none waits. */
  oldestQueuedSeconds: number;
  running: number;
}

export async function readQueue(db: Kysely<Tables>): Promise<RunQueue> {
  const { rows } = await sql<RunQueue>`
    select count(*) filter (where status = 'CREATING')::integer as "queued",
      coalesce(extract(epoch from now() - min(created_at) filter (where status = 'CREATING')), 0)::float8
        as "oldestQueuedSeconds",
      count(*) filter (where status = 'RUNNING')::integer as "running"
    from runs where status in ('CREATING', 'RUNNING')
  `.execute(db);
  const { queued = 0, oldestQueuedSeconds = 0, running = 0 } = rows[0] ?? {};
  // Clocks of two servers differ.
  return { queued, oldestQueuedSeconds: Math.max(0, oldestQueuedSeconds), running };
}

/** Every server reports the same: add nothing up. */
export function addQueueMetrics(metrics: Metrics, db: Kysely<Tables>): void {
  const read = sharedWhilePending(() => readQueue(db));
  metrics.gauge("platform_runs", "Runs that have not ended, by status, of all servers", async () => {
    const { queued, running } = await read();
    return [
      { labels: { status: "CREATING" }, value: queued },
      { labels: { status: "RUNNING" }, value: running },
    ];
  });
  metrics.gauge(
    "platform_run_queue_length",
    "Runs that wait for a server, of all servers",
    async () => (await read()).queued,
  );
  metrics.gauge(
    "platform_run_queue_oldest_age_seconds",
    "How long the oldest of the runs that wait has waited",
    async () => (await read()).oldestQueuedSeconds,
  );
  metrics.gauge("platform_database_up", "Whether the database answers this server", () =>
    read().then(
      () => 1,
      () => 0,
    ),
  );
}

/** One query for all gauges of a scrape. */
function sharedWhilePending<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let pending: Promise<Value> | null = null;
  return () => {
    pending ??= read().finally(() => {
      pending = null;
    });
    return pending;
  };
}

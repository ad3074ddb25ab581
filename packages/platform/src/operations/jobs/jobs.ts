// Executes jobs, and takes over those of dead servers.
import type {} from "graphile-worker";
import { openPool, type PlatformContext } from "../../foundation/index.ts";
import { graphileLogger } from "./log.ts";
import { forgetPool, registerPool, unlockDeadPools } from "./pools.ts";
import { jobSchema } from "./schema.ts";

/** Throwing retries the job later. The signal aborts when the server stops. */
export type Task = (payload: unknown, signal: AbortSignal) => Promise<void>;

export interface Jobs {
  /** Accepts no more jobs and waits for running ones; those that take too long go to another server. */
  stop(): Promise<void>;
}

export type JobHost = Pick<PlatformContext, "db" | "connection" | "nodeId" | "log">;

/** Jobs mostly wait for remote servers, some of which never respond: enough slots that these do not block the rest. */
const concurrency = 16;
/** Each worker polls at this interval; a new job that is due at once wakes one earlier. */
const pollIntervalMs = 2_000;
/** One per worker, and one that listens. */
const connections = concurrency + 1;
const watchIntervalMs = 5_000;

export async function startJobs(host: JobHost, tasks: Record<string, Task>): Promise<Jobs> {
  const { connection, log } = host;
  const pool = openPool(connection, connections, (error) =>
    log.warn("database.connection_lost", { purpose: "jobs", reason: error.message }),
  );
  // Loaded lazily: only servers with this role need it.
  const { run } = await import("graphile-worker");
  const membership = joinPools(host);
  const runner = await run({
    pgPool: pool,
    schema: jobSchema,
    concurrency,
    pollInterval: pollIntervalMs,
    noHandleSignals: true,
    parsedCronItems: [],
    logger: await graphileLogger(log),
    taskList: Object.fromEntries(Object.entries(tasks).map(([name, task]) => [name, taskOf(task)])),
    preset: { plugins: [membership.plugin] },
  });
  const watching = setInterval(() => void watch(host, membership), watchIntervalMs);
  await watch(host, membership);
  return {
    async stop() {
      clearInterval(watching);
      await runner.stop();
      await membership.leave();
      await pool.end();
    },
  };
}

const taskOf =
  (task: Task) =>
  (payload: unknown, { abortSignal }: { abortSignal?: AbortSignal }): Promise<void> =>
    task(payload, abortSignal ?? new AbortController().signal);

interface Membership {
  plugin: GraphileConfig.Plugin;
  confirm(): Promise<void>;
  leave(): Promise<void>;
}

/** The id of a pool is known only once it exists; its workers wait for this hook before their first job. */
function joinPools({ db, nodeId }: JobHost): Membership {
  const joined = new Set<string>();
  return {
    plugin: {
      name: "platform-pools",
      version: "1",
      worker: {
        hooks: {
          async startWorker(_context, { worker }) {
            joined.add(worker.workerPool.id);
            await registerPool(db, worker.workerPool.id, nodeId);
          },
        },
      },
    },
    async confirm() {
      for (const id of joined) await registerPool(db, id, nodeId);
    },
    async leave() {
      for (const id of joined) await forgetPool(db, id);
    },
  };
}

async function watch({ db, log, nodeId }: JobHost, membership: Membership): Promise<void> {
  try {
    await membership.confirm();
    for (const poolId of await unlockDeadPools(db)) log.warn("jobs.taken_over", { poolId, nodeId });
  } catch (error) {
    // The database may be unavailable for a moment; the next check is soon.
    log.error("jobs.watch_failed", error, { nodeId });
  }
}

// Limits that stop a run: wall time, disk space, and the spend limits of its user and team.
import { join } from "node:path";
import type { StopReason } from "@agentcli/engine";
import { defaults, durationMs, maxTimerMs } from "@agentcli/project";
import type { Kysely } from "kysely";
import {
  type DiskWatch,
  type PlatformContext,
  type Settings,
  storageFullMessage,
  type Tables,
  watchDisk,
} from "../../foundation/index.ts";
import { leftToSpend, spendLimitReached } from "../usage/index.ts";
import type { ActiveRun } from "./records.ts";
import { agentLimits } from "./sandbox/index.ts";

export interface RunLimits {
  signal: AbortSignal;
  /** The end of a turn that was stopped by a limit of this run; null if none was reached. */
  reached(): StopReason["end"] | null;
  /** Settles when the disk space of the agent has been measured: before that it must not write files. */
  whenDiskMeasured: Promise<void>;
  release(): void;
}

/** Time counts from the start of the run, even if another driver has resumed it since. */
export function startRunLimits(
  signal: AbortSignal,
  { run, requester, agent }: ActiveRun,
  { db, settings, storage }: Pick<PlatformContext, "db" | "settings" | "storage">,
): RunLimits {
  const stop = new AbortController();
  const { limits, budget } = settings.models;
  const walls = [
    { code: "limit" as const, wallMs: durationMs(limits?.wall ?? defaults.limits.wall) },
    { code: "budget" as const, wallMs: durationMs(budget?.wall ?? "off") },
  ];
  const sinceStartMs = Date.now() - run.startedAt.getTime();
  const timers = walls.flatMap(({ code, wallMs }) => {
    if (wallMs === null || wallMs > maxTimerMs) return [];
    const message = `The run exceeded its time limit of ${wallMs / 1000} s. Split the task, or ask an administrator to raise it.`;
    return setTimeout(() => stop.abort(stopped({ code, message, limit: "wall" })), Math.max(0, wallMs - sinceStartMs));
  });
  const diskWatch = limitDisk(settings, agent.directory, (message) =>
    stop.abort(stopped({ code: "limit", message, limit: "disk" })),
  );
  // What the agents still write would use up the reserve.
  const unwatchStorage = storage.onFull(() =>
    stop.abort(stopped({ code: "limit", message: storageFullMessage, limit: "disk" })),
  );
  const polling = setInterval(async () => {
    // A failed lookup is repeated at the next interval.
    const left = await leftToSpend(db, requester).catch(() => null);
    if (left === 0) stop.abort(stopped({ code: "budget", message: spendLimitReached, limit: "spend" }));
    else if (left !== null && (await isUncounted(db, run.id).catch(() => false)))
      stop.abort(stopped({ code: "budget", message: uncounted, limit: "price" }));
  }, settings.leaseMs / 3);
  // Not AbortSignal.any: Node 20 never frees such a signal once it has had a listener.
  const forwardAbort = () => stop.abort(signal.reason);
  if (signal.aborted) forwardAbort();
  signal.addEventListener("abort", forwardAbort);
  return {
    signal: stop.signal,
    reached: () => (stop.signal.aborted && !signal.aborted ? (stop.signal.reason as StopReason).end : null),
    whenDiskMeasured: diskWatch.ready,
    release() {
      signal.removeEventListener("abort", forwardAbort);
      for (const timer of timers) clearTimeout(timer);
      clearInterval(polling);
      diskWatch.stop();
      unwatchStorage();
    },
  };
}

function limitDisk(settings: Settings, agentDirectory: string, stop: (message: string) => void): DiskWatch {
  const { diskBytes } = agentLimits(settings);
  if (diskBytes === null) return { ready: Promise.resolve(), stop() {} };
  const directory = join(settings.dataDirectory, "workspaces", agentDirectory);
  const gibibytes = (bytes: number) => Number((bytes / 1024 ** 3).toFixed(2));
  return watchDisk({
    directory,
    maxBytes: diskBytes,
    onExceeded: (bytes) =>
      stop(
        `The files of the agent occupy ${gibibytes(bytes)} GiB, more than its limit of ${gibibytes(diskBytes)} GiB (limits.disk). Have it delete files in a follow-up, or ask the operator to raise the limit.`,
      ),
  });
}

/** The run has called a model without a known price, perhaps through a sub-agent defined in the repository. */
async function isUncounted(db: Kysely<Tables>, runId: string): Promise<boolean> {
  const run = await db.selectFrom("runs").select("cost_usd").where("id", "=", runId).executeTakeFirst();
  return run?.cost_usd === null;
}

const uncounted =
  "The run used a model whose price is unknown, so the spend limit cannot be enforced. Choose another model, or ask an administrator to add [prices.NAME] to the configuration.";

const stopped = (why: { code: "limit" | "budget"; message: string; limit: string }): StopReason => ({
  end: { status: "failed", ...why },
});

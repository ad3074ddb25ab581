// Claims and drives runs, up to the configured number at once; releases all of them when the server stops.
import type { StopReason } from "@agentcli/engine";
import { isFor, runsIn } from "../../fleet/index.ts";
import { readDataId, watchRunnerCount } from "../../foundation/index.ts";
import { reportDataDirectory } from "../disks/index.ts";
import { type ClaimedRun, type Fence, type LeaseOptions, type Leases, openLeases } from "../leases/lease.ts";
import { executeRun } from "./execute.ts";
import { leavesRunOpen } from "./fault.ts";
import { failUnopened } from "./finish.ts";
import type { DriverHost, RunHost } from "./run-host.ts";
import { openRunTelemetry } from "./telemetry.ts";

export interface Runner {
  /** Number of runs in progress. */
  active(): number;
  /** Releases every run, so that another server can resume it. */
  stop(): Promise<void>;
}

const pollIntervalMs = 1_000;
const reportIntervalMs = 60_000;

export async function startRunner(host: RunHost): Promise<Runner> {
  const { settings, db, notifications } = host.platform;
  const leases = openLeases(db, leaseOptions(host.platform));
  const active = new Map<string, HeldRun>();
  let stopped = false;
  // How many runs may be waiting. Most of the time it is the one that was just created: to look for a further one after it
  // would cost as much again.
  let expected = 0;
  let isWaitingForShare = false;
  const claimRuns = oneAtATime(async () => {
    while (!stopped && expected > 0 && active.size < settings.concurrentRuns) {
      const before = expected;
      expected = 0;
      const claimed = await leases.claim();
      isWaitingForShare = leases.hasFullTeam();
      // Without one, only those are left that were announced meanwhile.
      if (!claimed) continue;
      // One that was begun was not announced.
      expected += claimed.status === "CREATING" ? before - 1 : before;
      holdRun(claimed, { host, leases, active, onEnd: nextAfter(claimed) });
    }
  });
  const expect = (count: number): Promise<void> => {
    expected += count;
    return claimRuns();
  };
  const expectAny = () => expect(Number.POSITIVE_INFINITY);
  const nextAfter = (ended: ClaimedRun) => () =>
    ended.claimsWithoutProgress > 0 || isWaitingForShare ? expectAny() : claimRuns();

  // A cancellation may have been missed.
  const renewAll = () => {
    for (const { fence, stop } of active.values()) void renew(leases, fence, stop);
  };
  const onCancel = (runId: string) => active.get(runId)?.stop.abort(cancelled);
  const unlisten = await Promise.all([
    listenForRuns(host.platform, expect),
    notifications.subscribe("cancels", { onMessage: onCancel, onGap: renewAll }),
  ]);
  const reporting = await startReporting(host);
  const polling = setInterval(expectAny, pollIntervalMs);
  void Promise.all([expectAny(), warnWithoutSandbox(host)]);
  return {
    active: () => active.size,
    async stop() {
      stopped = true;
      clearInterval(polling);
      clearInterval(reporting);
      for (const end of unlisten) end();
      const held = [...active.values()];
      // Release the fence first: later writes of the run are refused, so it is not recorded as cancelled.
      await Promise.all(held.map(({ fence }) => leases.release(fence)));
      for (const { stop } of held) stop.abort(cancelled);
      await Promise.all(held.map(({ done }) => done));
    },
  };
}

/** Returns how to stop. */
async function listenForRuns(
  { db, notifications, nodeId }: RunHost["platform"],
  expect: (count: number) => Promise<void>,
): Promise<() => void> {
  const servers = watchRunnerCount(db);
  const end = await notifications.subscribe("runs", {
    onMessage(notice) {
      if (isFor(notice, { nodeId, servers: servers.read() })) void expect(runsIn(notice));
    },
    onGap: () => void expect(Number.POSITIVE_INFINITY),
  });
  return () => {
    servers.close();
    end();
  };
}

interface Holding {
  host: RunHost;
  leases: Leases;
  active: Map<string, HeldRun>;
  /** Looks for the next run. */
  onEnd(): Promise<void>;
}

/** Drives the run, and keeps its lease until the driver ends. */
function holdRun(claimed: ClaimedRun, { host, leases, active, onEnd }: Holding): void {
  const stop = new AbortController();
  if (claimed.cancelRequested) stop.abort(cancelled);
  const renewal = setInterval(() => void renew(leases, claimed, stop), host.platform.settings.leaseMs / 3);
  // Fenced before it is aborted: what the abort writes is refused, and the run goes on elsewhere or later.
  const yieldRun = async () => {
    await leases.release(claimed);
    stop.abort(cancelled);
  };
  const done = driveClaimed(claimed, { ...host, yieldRun }, stop.signal)
    .finally(async () => {
      clearInterval(renewal);
      // It may have been claimed again, after this driver has given it back.
      if (active.get(claimed.runId)?.fence === claimed) active.delete(claimed.runId);
      await leases.release(claimed);
    })
    // If the database is unavailable, the next poll tries again.
    .then(onEnd, (error: unknown) => host.platform.log.error("run was left", error, { runId: claimed.runId }));
  active.set(claimed.runId, { fence: claimed, stop, done });
}

/** That the data directory has a server: runs of agents whose files are in it wait for that. */
async function startReporting({ platform: { db, settings, log, nodeId } }: RunHost): Promise<NodeJS.Timeout> {
  const report = () => reportDataDirectory(db, readDataId(settings.dataDirectory), nodeId);
  await report();
  const reportAgain = () =>
    void report().catch((error: unknown) => log.error("data directory not reported", error, {}));
  return setInterval(reportAgain, reportIntervalMs);
}

const leaseOptions = ({ nodeId, settings }: RunHost["platform"]): LeaseOptions => ({
  nodeId,
  leaseMs: settings.leaseMs,
  maxRuns: settings.concurrentRuns,
  dataId: readDataId(settings.dataDirectory),
  workerWaitSeconds: settings.workers.waitSeconds,
});

/** Reported at the start, not only when the first run fails. */
async function warnWithoutSandbox({ sandboxes, platform: { log } }: RunHost): Promise<void> {
  try {
    const obstacle = await sandboxes.obstacle();
    if (obstacle !== null) log.warn("sandbox.unavailable", { reason: obstacle });
  } catch (error) {
    log.error("sandbox.unknown", error);
  }
}

interface HeldRun {
  fence: Fence;
  stop: AbortController;
  done: Promise<void>;
}

const cancelled: StopReason = { end: { status: "cancelled", reason: "The run was cancelled." } };

/** A run that cannot be opened would be claimed forever; it ends here. */
async function driveClaimed(claimed: ClaimedRun, host: DriverHost, signal: AbortSignal): Promise<void> {
  try {
    await executeRun(claimed, host, signal);
  } catch (error) {
    if (leavesRunOpen(error)) throw error;
    host.platform.log.error("run could not be driven", error, { runId: claimed.runId });
    await failUnopened(claimed, host.platform);
    const totals = { status: "ERROR", code: "internal", durationMs: 0, tokens: null, costUsd: null } as const;
    openRunTelemetry(host.platform, claimed).ended(totals);
  }
}

async function renew(leases: Leases, fence: Fence, stop: AbortController): Promise<void> {
  // A temporarily unavailable database is not a lost lease; the fence decides.
  const state = await leases.renew(fence).catch(() => "held" as const);
  if (state !== "held") stop.abort(cancelled);
}

/** Calls during an execution share one further execution after it. */
function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let again = false;
  return async function start(): Promise<void> {
    if (running) {
      again = true;
      return running;
    }
    // The next poll retries after a failure.
    running = work().catch(() => {});
    await running;
    running = undefined;
    if (again) {
      again = false;
      await start();
    }
  };
}

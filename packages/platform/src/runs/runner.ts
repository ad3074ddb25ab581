// Claims runs and drives them, as many at once as this server may; lets go of all of them when it is told to stop.
import type { StopReason } from "@agentcli/engine";
import { executeRun, type RunHost } from "./execute.ts";
import { leavesItOpen } from "./fault.ts";
import { failUnopened } from "./finish.ts";
import { type Claimed, type Fence, type Leases, openLeases } from "./lease.ts";

export interface Runner {
  /** Runs under way. */
  active(): number;
  /** Gives every run back, unharmed, to whoever claims it next. */
  stop(): Promise<void>;
}

const lookEveryMs = 1_000;

export async function startRunner(host: RunHost): Promise<Runner> {
  const { settings, db, nodeId, notifications } = host.platform;
  const leases = openLeases(db, { nodeId, leaseMs: settings.leaseMs });
  const active = new Map<string, Held>();
  let stopped = false;
  const look = oneAtATime(async () => {
    while (!stopped && active.size < settings.concurrentRuns) {
      const claimed = await leases.claim();
      if (!claimed) return;
      hold(claimed);
    }
  });

  function hold(claimed: Claimed): void {
    const stop = new AbortController();
    if (claimed.cancelRequested) stop.abort(cancelled);
    const renewing = setInterval(() => void renew(leases, claimed, stop), settings.leaseMs / 3);
    const done = driveClaimed(claimed, host, stop.signal)
      .finally(async () => {
        clearInterval(renewing);
        active.delete(claimed.runId);
        await leases.release(claimed);
      })
      // Where the database is away, the next look is soon enough.
      .then(look, (error: unknown) => host.platform.log.error("run was left", error, { runId: claimed.runId }));
    active.set(claimed.runId, { fence: claimed, stop, done });
  }

  const unlisten = await Promise.all([
    notifications.subscribe("runs", { onMessage: look, onGap: look }),
    notifications.subscribe("cancels", {
      onMessage: (runId) => active.get(runId)?.stop.abort(cancelled),
      // One of them may have been cancelled meanwhile.
      onGap() {
        for (const { fence, stop } of active.values()) void renew(leases, fence, stop);
      },
    }),
  ]);
  const looking = setInterval(look, lookEveryMs);
  void look();
  void warnWithoutSandbox(host);
  return {
    active: () => active.size,
    async stop() {
      stopped = true;
      clearInterval(looking);
      for (const end of unlisten) end();
      const held = [...active.values()];
      // First the fence: what a run still writes after it is refused, so nothing says that it was stopped.
      await Promise.all(held.map(({ fence }) => leases.release(fence)));
      for (const { stop } of held) stop.abort(cancelled);
      await Promise.all(held.map(({ done }) => done));
    },
  };
}

/** Said at the start: else the first run would be the one to find out. */
async function warnWithoutSandbox({ sandboxes, platform: { log } }: RunHost): Promise<void> {
  try {
    const obstacle = await sandboxes.obstacle();
    if (obstacle !== null) log.warn("sandbox.unavailable", { reason: obstacle });
  } catch (error) {
    log.error("sandbox.unknown", error);
  }
}

interface Held {
  fence: Fence;
  stop: AbortController;
  done: Promise<void>;
}

const cancelled: StopReason = { end: { status: "cancelled", reason: "The run was cancelled." } };

/** A run that cannot even be opened would be claimed again and again; it ends here. */
async function driveClaimed(claimed: Claimed, host: RunHost, signal: AbortSignal): Promise<void> {
  try {
    await executeRun(claimed, host, signal);
  } catch (error) {
    if (leavesItOpen(error)) throw error;
    host.platform.log.error("run could not be driven", error, { runId: claimed.runId });
    await failUnopened(claimed, host.platform);
  }
}

async function renew(leases: Leases, fence: Fence, stop: AbortController): Promise<void> {
  // A database that does not answer for a moment is not a lost lease; the fence decides.
  const state = await leases.renew(fence).catch(() => "held" as const);
  if (state !== "held") stop.abort(cancelled);
}

/** While one look is under way, others wait for one more behind it. */
function oneAtATime(look: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let again = false;
  return async function start(): Promise<void> {
    if (running) {
      again = true;
      return running;
    }
    // What fails now is tried again by the next look.
    running = look().catch(() => {});
    await running;
    running = undefined;
    if (again) {
      again = false;
      await start();
    }
  };
}

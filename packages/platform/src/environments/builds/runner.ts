// Claims and executes builds, a few at once; hands them back when the server stops.
import { type BuildHost, executeBuild } from "./execute.ts";
import { type ClaimedBuild, claimBuild, releaseBuild, renewBuild } from "./store.ts";

const pollIntervalMs = 1_000;
const maxConcurrent = 2;

interface HeldBuild {
  claimed: ClaimedBuild;
  stop: AbortController;
  done: Promise<void>;
}

export async function startBuildRunner(host: BuildHost): Promise<{ stop(): Promise<void> }> {
  const { db, nodeId, notifications, settings } = host.platform;
  const { leaseMs } = settings;
  const active = new Map<string, HeldBuild>();
  let stopped = false;
  let claiming: Promise<void> | null = null;

  async function claimAll(): Promise<void> {
    while (!stopped && active.size < maxConcurrent) {
      const claimed = await claimBuild(db, { nodeId, leaseMs, held: [...active.keys()] });
      if (!claimed) return;
      const held = hold(claimed, host);
      active.set(claimed.buildId, held);
      void held.done.finally(() => {
        active.delete(claimed.buildId);
        claim();
      });
    }
  }

  /** The next poll tries again after a failure. */
  function claim(): void {
    claiming ??= claimAll()
      .catch(() => {})
      .finally(() => {
        claiming = null;
      });
  }

  const unlisten = await Promise.all([
    notifications.subscribe("environment_builds", { onMessage: claim, onGap: claim }),
    notifications.subscribe("environment_build_cancels", {
      onMessage: (buildId) => active.get(buildId)?.stop.abort(),
      onGap: () => active.forEach((held) => void renew(held, host)),
    }),
  ]);
  const polling = setInterval(claim, pollIntervalMs);
  claim();
  return {
    async stop() {
      stopped = true;
      clearInterval(polling);
      for (const end of unlisten) end();
      await claiming;
      const held = [...active.values()];
      for (const { stop } of held) stop.abort();
      await Promise.all(held.map(({ done }) => done));
    },
  };
}

function hold(claimed: ClaimedBuild, host: BuildHost): HeldBuild {
  const { db, settings, log } = host.platform;
  const { buildId } = claimed;
  const stop = new AbortController();
  if (claimed.build.cancel_requested_at !== null) stop.abort();
  const renewal = setInterval(() => void renew({ claimed, stop }, host), settings.leaseMs / 3);
  const done = executeBuild(claimed, host, stop.signal)
    .catch((error: unknown) => log.error("environment build was left", error, { buildId }))
    .then(() => releaseBuild(db, claimed))
    .catch((error: unknown) => log.error("environment build was not released", error, { buildId }))
    .finally(() => clearInterval(renewal));
  return { claimed, stop, done };
}

/** A temporarily unavailable database is not a lost lease; the fence decides. */
async function renew({ claimed, stop }: Pick<HeldBuild, "claimed" | "stop">, { platform }: BuildHost): Promise<void> {
  const state = await renewBuild(platform.db, claimed, platform.settings.leaseMs).catch(() => "held" as const);
  if (state !== "held") stop.abort();
}

// The fleet: the machines that customers bring, and which agent works on which of them.
import { workerPath } from "@agentcli/protocol/worker-link";
import type { Activity, ServerContext, Subject } from "../foundation/index.ts";
import type { Principals } from "../identity/index.ts";
import { assignWorkers } from "./assign.ts";
import { type EnvCheck, openEnvCheck } from "./env.ts";
import { type Gateway, openGateway } from "./gateway.ts";
import { seenEveryMs } from "./ready.ts";
import { workerRetention } from "./retention.ts";
import { forgetConnections, reportSeen } from "./store.ts";
import { syncDirectory } from "./sync-state.ts";
import { openWorkers, type Workers } from "./use.ts";

export interface Fleet extends Subject {
  checkEnv: EnvCheck;
  workers: Workers;
}

export function openFleet(context: ServerContext, principals: Principals): Fleet {
  const { db, settings } = context;
  const gateway = openGateway(context, principals);
  return {
    checkEnv: openEnvCheck(db),
    workers: openWorkers({ db, gateway, syncDirectory: syncDirectory(settings) }),
    retention: [workerRetention(db, settings.retention.workerDays)],
    routes: (api) => api.socket(workerPath, gateway.accept),
    activities: [{ role: "runner", start: () => startFleet(context, gateway) }],
  };
}

const pollMs = 2_000;

async function startFleet({ db, nodeId, notifications, log }: ServerContext, gateway: Gateway): Promise<Activity> {
  await forgetConnections(db, nodeId);
  const repeat = (name: string, everyMs: number, work: () => Promise<unknown>) =>
    setInterval(() => void work().catch((error: unknown) => log.error(name, error)), everyMs);
  let assigning: Promise<unknown> | undefined;
  const assign = async () => {
    assigning ??= assignWorkers(db).finally(() => {
      assigning = undefined;
    });
    await assigning;
  };
  const timers = [
    repeat("workers.not_assigned", pollMs, assign),
    repeat("workers.not_reported", seenEveryMs, () => reportSeen(db, nodeId)),
  ];
  const wake = () => void assign().catch(() => {});
  // Without an id, the news is for those that claim runs.
  const onMessage = (id: string) => (id === "" ? undefined : wake());
  const unlisten = await Promise.all(
    ["runs", "workers"].map((channel) => notifications.subscribe(channel, { onMessage, onGap: wake })),
  );
  return {
    async stop() {
      for (const timer of timers) clearInterval(timer);
      for (const end of unlisten) end();
      gateway.close();
      await assigning?.catch(() => {});
      await forgetConnections(db, nodeId);
    },
  };
}

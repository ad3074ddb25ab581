// The fleet: the machines that customers bring, and which agent works on which of them.
import { workerPath } from "@agentcli/protocol/worker-link-names";
import {
  type Activity,
  type Authenticate,
  type ServerContext,
  type Subject,
  watchRunnerCount,
} from "../foundation/index.ts";
import type { Principals } from "../identity/index.ts";
import { assignWorkers, dropOverdueClaims } from "./assign.ts";
import { type EnvCheck, openEnvCheck } from "./env.ts";
import { type Gateway, openGateway } from "./gateway.ts";
import type { MintIdentity } from "./identity-request.ts";
import { concernsWorkers, isFor } from "./notices.ts";
import { seenEveryMs } from "./online.ts";
import { releaseAgents } from "./release.ts";
import { poolRetention, workerRetention } from "./retention.ts";
import { addFleetRoutes } from "./routes/index.ts";
import { forgetConnections, reportSeen } from "./store.ts";
import { syncDirectory } from "./sync-state.ts";
import { openWorkers, type Workers } from "./use.ts";
import { openWatch } from "./watch.ts";

export interface Fleet extends Subject {
  checkEnv: EnvCheck;
  workers: Workers;
}

export interface FleetOptions {
  principals: Principals;
  authenticate: Authenticate;
  mintIdentity: MintIdentity;
}

export function openFleet(context: ServerContext, { principals, authenticate, mintIdentity }: FleetOptions): Fleet {
  const { db, settings } = context;
  const gateway = openGateway(context, { principals, mintIdentity });
  return {
    checkEnv: openEnvCheck(db),
    workers: openWorkers({
      ...{ db, gateway, store: context.objects.store, syncDirectory: syncDirectory(settings) },
      waitSeconds: settings.workers.waitSeconds,
    }),
    retention: [workerRetention(db, settings.retention.workerDays), poolRetention(db, settings.retention.workerDays)],
    routes(api) {
      api.socket(workerPath, gateway.accept);
      addFleetRoutes(api, { platform: context, principals, authenticate, watch: openWatch(context) });
    },
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
    repeat("workers.claims_not_dropped", pollMs, () => dropOverdueClaims(db)),
    repeat("workers.not_released", pollMs, () => releaseAgents(db, gateway)),
    repeat("workers.not_reported", seenEveryMs, () => reportSeen(db, nodeId, gateway.list())),
  ];
  const wake = () => void assign().catch(() => {});
  const servers = watchRunnerCount(db);
  const onMessage = (notice: string) => {
    if (concernsWorkers(notice) && isFor(notice, { nodeId, servers: servers.read() })) wake();
  };
  const unlisten = await Promise.all(
    ["runs", "workers"].map((channel) => notifications.subscribe(channel, { onMessage, onGap: wake })),
  );
  return {
    async stop() {
      for (const timer of timers) clearInterval(timer);
      servers.close();
      for (const end of unlisten) end();
      gateway.close();
      await assigning?.catch(() => {});
      await forgetConnections(db, nodeId);
    },
  };
}

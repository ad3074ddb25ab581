// `GET /v1/overview/workers`: what the page of workers shows. Members see pools and their own machines.
import { type Api, schema } from "../../foundation/index.ts";
import { listPools } from "../pools.ts";
import { listWorkers, type ShownWorker } from "../workers.ts";
import type { FleetHost } from "./host.ts";

const everything = { status: "all", scope: "all" } as const;

export function addFleetOverview(api: Api, { platform: { db } }: FleetHost): void {
  api.route(
    {
      method: "get",
      path: "/v1/overview/workers",
      summary: "List the connected workers and pools of the team; machines of other members only with the scope admin",
      tag: "Overview",
      scope: "agents:read",
      answer: { status: 200, schema: schema("overview", "FleetOverview"), description: "The longest connected first" },
    },
    async ({ principal: { teamId, scopes, ...caller } }) => {
      const userId = caller.kind === "user" ? caller.userId : null;
      const isOwn = ({ user_id }: ShownWorker) => user_id !== null && user_id === userId;
      const [workers, pools] = await Promise.all([
        listWorkers(db, teamId, everything),
        listPools(db, { teamId, serviceAccountId: null }, { scope: "team", includeStale: false }),
      ]);
      const shown = workers.filter((one) => one.pool !== null || scopes.includes("admin") || isOwn(one));
      return {
        workers: shown.map((one) => ({
          ...{ id: one.id, name: one.name, isInUse: one.active_agent_id !== null, version: one.version },
          ...{ isCaller: isOwn(one), connectedAt: one.connected_at.toISOString() },
          ...(one.pool !== null && { pool: one.pool }),
          ...(one.repo_url !== null && { repository: one.repo_url }),
        })),
        pools: pools.map((pool) => ({
          ...{ name: pool.poolName, connected: pool.connectedWorkerCount, inUse: pool.inUseWorkerCount },
          lastSeenAt: new Date(pool.lastSeenAtMs).toISOString(),
          ...(pool.repoName && { repository: `${pool.repoOwner}/${pool.repoName}` }),
        })),
      };
    },
  );
}

// Pools: register, list, deregister.
import { type Api, ApiError, schema } from "../../foundation/index.ts";
import { deregisterPool, listPools, maxPools, registerPool } from "../pools.ts";
import { type Base, type FleetHost, ownerOf } from "./host.ts";

export function addPoolRoutes(api: Api, { platform: { db } }: FleetHost, { pools: path, tag }: Base): void {
  api.route(
    {
      ...{ method: "get", path, tag, scope: "agents:read", query: schema("workers", "WorkerPoolQuery") },
      summary: "List pools of workers",
      answer: {
        status: 200,
        schema: schema("workers", "WorkerPoolList"),
        description: "Pools of the team and of the service account",
      },
    },
    async ({ principal, query }) => ({ pools: await listPools(db, ownerOf(principal), query) }),
  );
  api.route(
    {
      ...{ method: "post", path, tag, scope: "agents:write", body: schema("workers", "RegisterPool") },
      summary: "Register a pool, or change the registered one of this name and repository",
      answer: { status: 200, schema: schema("workers", "PoolRegistered"), description: "It is registered" },
      problems: ["pool_limit_reached"],
    },
    async ({ principal, body }) => {
      if (!(await registerPool(db, ownerOf(principal), body)))
        throw new ApiError("pool_limit_reached", `The team has ${maxPools} pools already. Deregister one first.`);
      return { registered: true as const };
    },
  );
  api.route(
    {
      ...{ method: "delete", path, tag, scope: "agents:write", query: schema("workers", "DeregisterPool") },
      summary: "Deregister a pool; workers that are connected stay connected",
      answer: {
        status: 200,
        schema: schema("workers", "PoolDeregistered"),
        description: "It is not registered any more",
      },
      problems: ["pool_not_found"],
    },
    async ({ principal, query }) => {
      if (!(await deregisterPool(db, ownerOf(principal), query)))
        throw new ApiError(
          "pool_not_found",
          `There is no pool ${JSON.stringify(query.pool_name)} of this scope and repository.`,
        );
      return { deregistered: true as const };
    },
  );
}

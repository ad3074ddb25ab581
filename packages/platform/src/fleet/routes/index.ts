// The routes of workers and pools, under their paths of v0 and of v1.
import type { Api } from "../../foundation/index.ts";
import { addClaimRoutes } from "./claims.ts";
import { renderV0Errors } from "./errors.ts";
import { bases, type FleetHost } from "./host.ts";
import { addFleetOverview } from "./overview.ts";
import { addPendingRoutes } from "./pending.ts";
import { addPoolRoutes } from "./pools.ts";
import { addSubTokenRoute } from "./sub-tokens.ts";
import { addWorkerRoutes } from "./workers.ts";

export function addFleetRoutes(api: Api, host: FleetHost): void {
  api.renderErrors(renderV0Errors);
  for (const base of bases) {
    addPoolRoutes(api, host, base);
    addPendingRoutes(api, host, base);
    addClaimRoutes(api, host, base);
    addWorkerRoutes(api, host, base);
  }
  addSubTokenRoute(api, host);
  addFleetOverview(api, host);
}

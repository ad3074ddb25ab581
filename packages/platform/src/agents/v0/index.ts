// API v0 on the same records as v1, for clients from before it.
import type { ServerContext, Subject } from "../../foundation/index.ts";
import type { Principal } from "../../identity/index.ts";
import type { OfferedRepositories } from "../../repositories/index.ts";
import type { AgentHost } from "../routes/agents.ts";
import { addAgentRoutes } from "./agent-routes.ts";
import { addArtifactRoutes } from "./artifact-routes.ts";
import { addCatalogueRoutes } from "./catalogue-routes.ts";

export interface V0Options {
  agents: AgentHost;
  /** Repositories that the principal can start agents on. */
  listRepositories(principal: Principal): Promise<OfferedRepositories>;
}

export const openV0 = (context: ServerContext, { agents, listRepositories }: V0Options): Subject => ({
  routes(api) {
    addAgentRoutes(api, agents);
    addArtifactRoutes(api, agents);
    addCatalogueRoutes(api, context, listRepositories);
  },
});

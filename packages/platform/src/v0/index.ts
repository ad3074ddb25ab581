// API v0 on the same records as v1, for clients from before it.
import type { AgentHost } from "../agents/index.ts";
import type { Api } from "../http/index.ts";
import { addAgentRoutes } from "./agent-routes.ts";
import { addArtifactRoutes } from "./artifact-routes.ts";
import { addCatalogueRoutes } from "./catalogue-routes.ts";

export function addV0Routes(api: Api, host: AgentHost, repositories: (teamId: number) => Promise<string[]>): void {
  addAgentRoutes(api, host);
  addArtifactRoutes(api, host);
  addCatalogueRoutes(api, host.platform, repositories);
}

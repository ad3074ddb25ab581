// Models: the catalogue, and model calls by API clients.
import type { ServerContext, Subject } from "../foundation/index.ts";
import type { Principal } from "../identity/index.ts";
import type { OfferedRepositories } from "../repositories/index.ts";
import { addCatalogueRoutes } from "./catalogue/index.ts";
import { openInferenceCalls } from "./routes.ts";
import { addInferenceUsageRoute } from "./usage.ts";

export interface InferenceOptions {
  /** Repositories that the principal can start agents on. */
  listRepositories(principal: Principal): Promise<OfferedRepositories>;
}

export function openInference(context: ServerContext, { listRepositories }: InferenceOptions): Subject {
  const calls = openInferenceCalls(context);
  return {
    routes(api) {
      calls.addRoute(api);
      addInferenceUsageRoute(api, context);
      addCatalogueRoutes(api, context, listRepositories);
    },
    activities: [{ role: "every server", start: () => calls }],
  };
}

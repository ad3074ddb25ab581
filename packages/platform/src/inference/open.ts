// Models: the catalogue, and model calls by API clients.
import type { ServerContext, Subject } from "../foundation/index.ts";
import { addCatalogueRoutes } from "./catalogue/index.ts";
import { openInferenceCalls } from "./routes.ts";
import { addInferenceUsageRoute } from "./usage.ts";

export interface InferenceOptions {
  /** Clone URLs of a team's repositories on the embedded git host. */
  listRepositories(teamId: number): Promise<string[]>;
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

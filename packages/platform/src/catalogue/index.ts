// Who asks, and what there is to ask for.
export { listModels } from "./models.ts";
export { addCatalogueRoutes } from "./routes.ts";

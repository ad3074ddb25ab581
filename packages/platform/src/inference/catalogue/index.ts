// The account of the caller, and the models and repositories available to it.
export { listModels } from "./models.ts";
export { addCatalogueRoutes } from "./routes.ts";

// Who asks, and what there is to ask for.
export { addCatalogueRoutes } from "./routes.ts";

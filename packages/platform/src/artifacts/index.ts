// Files that agents leave for people.
export { openArtifacts } from "./collect.ts";
export { addArtifactRoutes } from "./routes.ts";

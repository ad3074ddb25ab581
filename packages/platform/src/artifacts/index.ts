// Files that agents leave for people.
export { type Artifacts, openArtifacts } from "./collect.ts";
export { addArtifactRoutes } from "./routes.ts";

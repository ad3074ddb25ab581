// Files that agents leave for people.
export { artifactKeeper } from "./collect.ts";
export { addArtifactRoutes } from "./routes.ts";

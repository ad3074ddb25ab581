// Files that agents leave for people.
export { artifactKeeper } from "./collect.ts";
export { addArtifactRoutes, linkArtifact, listArtifacts } from "./routes.ts";

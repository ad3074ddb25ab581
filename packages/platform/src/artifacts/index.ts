// Files that agents leave for people.
export { openArtifacts } from "./collect.ts";
export { addArtifactRoutes, linkArtifact, listArtifacts } from "./routes.ts";

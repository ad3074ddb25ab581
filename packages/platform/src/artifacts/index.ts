// Files that agents leave for people.
export { type Artifacts, openArtifacts } from "./collect.ts";
export { addArtifactRoutes, linkArtifact, listArtifacts } from "./routes.ts";

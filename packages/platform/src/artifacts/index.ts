// Files that agents leave for people.
export { openArtifacts } from "./collect.ts";
export { addArtifactRoutes, linkArtifact, shownArtifacts } from "./routes.ts";

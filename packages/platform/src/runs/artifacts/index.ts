// Artifacts: files that agents produce for users.
export { openArtifacts } from "./collect.ts";
export { artifactRetention } from "./retention.ts";
export { addArtifactRoutes, linkArtifact, shownArtifacts } from "./routes.ts";

// Artifacts: files that agents produce for users.
export { openArtifacts } from "./collect.ts";
export { addArtifactRoutes, linkArtifact, shownArtifacts } from "./routes.ts";

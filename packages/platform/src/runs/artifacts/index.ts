// Artifacts: files that agents produce for users.
export { openArtifacts } from "./collect.ts";
export { removeArtifacts } from "./objects.ts";
export { artifactRetention } from "./retention.ts";
export { startArtifactRetries } from "./retry.ts";
export { addArtifactRoutes, linkArtifact, shownArtifacts } from "./routes.ts";
export { openUnsaved } from "./unsaved.ts";

// `.platform/environment.json`: read it, and check the Dockerfile it names.
export { findProjectCopies } from "./dockerfile.ts";
export { type EnvironmentProposal, proposeEnvironment } from "./propose.ts";
export {
  type BuildPaths,
  buildPaths,
  describeProblem,
  type EnvironmentProblem,
  type EnvironmentReading,
  readEnvironment,
} from "./read.ts";
export { directoriesThatMatter, type RepositoryFiles } from "./repository-files.ts";

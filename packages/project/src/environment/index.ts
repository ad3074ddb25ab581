// `.platform/environment.json`: read it, and check the Dockerfile it names.
export { type BuildPaths, buildPaths } from "./build-paths.ts";
export { findProjectCopies } from "./dockerfile.ts";
export { describeProblem, type EnvironmentProblem } from "./problem.ts";
export { type EnvironmentProposal, proposeEnvironment } from "./propose.ts";
export { type EnvironmentReading, readEnvironment } from "./read.ts";
export { directoriesThatMatter, type RepositoryFiles } from "./repository-files.ts";

// `.platform/environment.json`: read it, and check the Dockerfile it names.
export { findProjectCopies } from "./dockerfile.ts";
export {
  type BuildPaths,
  buildPaths,
  describeProblem,
  type EnvironmentProblem,
  type EnvironmentReading,
  readEnvironment,
} from "./read.ts";

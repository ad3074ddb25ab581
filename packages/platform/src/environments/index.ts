// What other groups may use of environments.
export type {
  BuildExecutor,
  BuildLogger,
  BuildOrder,
  BuildOutcome,
  BuildRepository,
} from "./builds/executor.ts";
export { type Environments, openEnvironments } from "./open.ts";

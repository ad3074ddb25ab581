// What other groups may use of environments.

export { buildsOf, draftsToDecide } from "./builds/drafts.ts";
export type {
  BuildExecutor,
  BuildLogger,
  BuildOrder,
  BuildOutcome,
  BuildRepository,
} from "./builds/executor.ts";
export type { ChosenEnvironment } from "./choose.ts";
export type { EnvironmentUse, RunEnvironments } from "./for-runs.ts";
export type { FindNamedEnvironment, NamedEnvironment } from "./named.ts";
export { type Environments, openEnvironments } from "./open.ts";
export { type Preparation, prepareMachine } from "./prepare.ts";
export { terminalSession } from "./terminals.ts";

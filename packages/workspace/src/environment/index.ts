// The environment variables of tools: which are inherited, and what they are inside a sandbox.
export { withOfflineVariables } from "./offline.ts";
export { type EnvironmentPolicy, environmentPolicy, inherits } from "./policy.ts";
export {
  type Environment,
  sandboxedEnvironment,
  type ToolEnvironmentOptions,
  toolEnvironment,
} from "./tool-environment.ts";

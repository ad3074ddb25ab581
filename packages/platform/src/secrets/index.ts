// What other groups may use of secrets.
export { type AgentSecret, recordedSecrets, recordToken } from "./agent-secrets.ts";
export { type SinglePhaseNames, secretsOfBuild, singlePhaseNames } from "./build-secrets.ts";
export type { AgentOwner, EnvironmentLookup } from "./host.ts";
export { openSecrets, type Secrets } from "./open.ts";
export { patternsOf } from "./patterns.ts";
export { secretsToRedact } from "./redaction.ts";
export { usesOf } from "./views.ts";

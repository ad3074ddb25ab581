// What other groups may use of secrets.
export type { AgentSecret } from "./agent-secrets.ts";
export type { AgentOwner, EnvironmentLookup } from "./host.ts";
export { openSecrets, type Secrets } from "./open.ts";

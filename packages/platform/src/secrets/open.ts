// Secrets: the API about them, and those that each agent gets.
import type { DataKey, ServerContext, Subject } from "../foundation/index.ts";
import { type AgentSecret, type SecretAgent, secretsOfAgent } from "./agent-secrets.ts";
import type { EnvironmentLookup } from "./host.ts";
import { addSecretRoutes } from "./routes.ts";

export interface Secrets extends Subject {
  /** For its commands; `key` is the agent's. */
  ofAgent(agent: SecretAgent, key: DataKey): Promise<AgentSecret[]>;
}

export function openSecrets({ db, vault }: ServerContext, environments: EnvironmentLookup): Secrets {
  const host = { db, vault, environments };
  return {
    ofAgent: (agent, key) => secretsOfAgent(host, agent, key),
    routes: (api) => addSecretRoutes(api, host),
  };
}

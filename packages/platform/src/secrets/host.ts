// What the routes about secrets need.
import type { AgentSettings, Principal } from "../foundation/index.ts";
import type { SecretStore } from "./store.ts";

export interface EnvironmentLookup {
  /** Throws ApiError: `environment_not_found` for what the principal may not see, else why not. */
  find(principal: Principal, id: string, action: "read" | "manage"): Promise<{ id: string; team_id: number }>;
  /** Those that the principal may see. */
  listIds(principal: Principal): Promise<string[]>;
  /** The one that an agent belongs to; null: none. */
  ofAgent(agent: AgentOwner): Promise<string | null>;
}

export interface AgentOwner {
  teamId: number;
  /** Null: a service account's. */
  userId: number | null;
  settings: Pick<AgentSettings, "repos" | "env">;
}

export interface SecretHost extends SecretStore {
  environments: EnvironmentLookup;
}

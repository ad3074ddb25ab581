// Secrets of teams, users and environments, and those that each agent started with.
import type { SecretPhase, SecretType } from "@agentcli/protocol/api";
import type { ColumnType } from "kysely";
import type { Json, Sealed, Stamped } from "./columns.ts";

export interface SecretTable {
  /** `secv_<22 characters>` */
  id: string;
  team_id: number;
  /** Whose it is alone; null: the team's or an environment's. */
  user_id: number | null;
  /** The environment that it is limited to. */
  environment_id: string | null;
  name: string;
  type: SecretType;
  phase: SecretPhase;
  /** host/owner/repo; empty: all. */
  repos: Json<string[]>;
  /** Of requests that get the value; empty: commands get it. */
  hosts: ColumnType<string[], string | undefined, string>;
  /** Where in them; empty: bearer and basic. */
  uses: ColumnType<string[], string | undefined, string>;
  /** Under the key of the team. */
  sealed: Sealed;
  created_at: Stamped;
  updated_at: Stamped;
}

export interface AgentSecretsTable {
  agent_id: string;
  /** Under the key of the agent: what its runs get, whatever changes later. */
  sealed: Sealed;
  created_at: Stamped;
}

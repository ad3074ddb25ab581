// Workers, and the agents that use them.
import type { WorkerLabels } from "@agentcli/protocol/worker-link";
import type { Generated } from "kysely";
import type { Json, Perhaps, Sealed, Stamped, Timestamp } from "./columns.ts";

/** Why a worker is not connected any more. */
export type WorkerLoss = "process" | "memory" | "starved" | "network" | "version";

export interface WorkerTable {
  team_id: number;
  /** Chosen by the worker, and kept over its restarts. */
  id: string;
  /** Whose personal machine it is; null: it serves a pool. */
  user_id: number | null;
  service_account_id: string | null;
  name: string;
  /** Null: a personal machine. */
  pool: string | null;
  labels: Json<WorkerLabels>;
  root_path: string;
  repo_url: string | null;
  version: string;
  /** Of its process. */
  session: string;
  /** The server that holds its connection; null: it is not connected. */
  node_id: Perhaps<string>;
  /** Null: it is connected, or its server has gone with the connection. */
  lost_reason: Perhaps<WorkerLoss>;
  connected_at: Timestamp;
  last_seen_at: Timestamp;
  created_at: Stamped;
}

export interface WorkerClaimTable {
  agent_id: string;
  team_id: number;
  worker_id: string;
  /** No other agent may use the worker meanwhile. */
  is_exclusive: boolean;
  claimed_at: Stamped;
  /** The service account whose controller claimed it; null: the platform assigned it. */
  service_account_id: Perhaps<string>;
  /** The run that its controller could not bring a worker for, and why. */
  failed_run_id: Perhaps<string>;
  failure: Perhaps<Sealed>;
}

export interface WorkerPoolTable {
  id: Generated<string>;
  team_id: number;
  /** Null: of the team. */
  service_account_id: string | null;
  name: string;
  /** Empty: for any repository. */
  repo_owner: Generated<string>;
  repo_name: Generated<string>;
  repo_url: Perhaps<string>;
  ready_timeout_seconds: Generated<number>;
  /** False: known from its workers alone. */
  is_registered: boolean;
  first_seen_at: Stamped;
  last_seen_at: Stamped;
}

/** Connects one worker for one claim. */
export interface WorkerTokenTable {
  id: string;
  hash: Buffer;
  team_id: number;
  /** The key it was made with: it is valid no longer than that. */
  key_id: string;
  agent_id: string;
  worker_id: string;
  expires_at: Timestamp;
  created_at: Stamped;
}

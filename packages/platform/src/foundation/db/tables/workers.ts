// Workers, and the agents that use them.
import type { WorkerLabels } from "@agentcli/protocol/worker-link";
import type { Json, Perhaps, Stamped, Timestamp } from "./columns.ts";

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
}

// Agents and their runs, with their threads, frames and artifacts.
import type { ColumnType, Generated } from "kysely";
import type { Json, Perhaps, Sealed, Stamped, Timestamp } from "./columns.ts";

export interface AgentTable {
  /** `bc-<uuid>` */
  id: string;
  team_id: number;
  user_id: number | null;
  service_account_id: string | null;
  name: Sealed;
  /** Name of its directories below the data directory; never used again, unlike an id. */
  directory: string;
  archived_at: Timestamp | null;
  /** Wrapped by the key-encryption key. */
  data_key: Buffer;
  /** The create-time fields as the API returns them, but for what is sealed elsewhere. */
  settings: Json<AgentSettings>;
  /** envVars, customSubagents, mcpServers, metadata: one sealed JSON document. */
  private_settings: Sealed;
  /** API, SDK, WEBSITE, … */
  source: string;
  latest_run_id: string | null;
  created_at: Stamped;
  updated_at: Stamped;
}

/** Holds no text written by people: that is sealed. */
export interface AgentSettings {
  model?: { id: string; params?: { id: string; value: string }[] } | undefined;
  mode: "agent" | "plan";
  env?: { type: "cloud" | "pool" | "machine"; name?: string | undefined; buildId?: string | undefined } | undefined;
  repos: AgentRepository[];
  workOnCurrentBranch: boolean;
  autoCreatePR: boolean;
  skipReviewerRequest: boolean;
  openAsApp: boolean;
  /** Absent: not. */
  recordRuns?: boolean;
  /** What its runs would write is recorded, and not written; absent: it is written. */
  effects?: "shadow" | "backtest" | undefined;
  /** Of the branch it makes; absent: named after the agent. */
  branchName?: string | undefined;
  /** What it was forked from; absent: it began with an empty conversation. */
  fork?: AgentFork | undefined;
}

export interface AgentFork {
  agentId: string;
  /** The last run of the conversation that was copied. */
  runId: string;
  /** Where repositories begin; of others as `repos` says. */
  starts: ForkStart[];
}

export interface ForkStart {
  /** As in `repos`. */
  url: string;
  commit: string;
  /** The target branch of a pull request. */
  baseBranch: string;
}

export interface AgentRepository {
  url: string;
  startingRef?: string | undefined;
  prUrl?: string | undefined;
}

export type RunStatus = "CREATING" | "RUNNING" | "FINISHED" | "ERROR" | "CANCELLED" | "EXPIRED";

export interface RunTable {
  /** `run-<uuid>` */
  id: string;
  agent_id: string;
  team_id: number;
  user_id: number | null;
  service_account_id: string | null;
  /** Counts the runs of an agent from 1. */
  number: number;
  status: RunStatus;
  request_id: string | null;
  /** Prompt with images, mode, model, mcpServers and envVars of this run: one sealed JSON document. */
  request: Sealed;
  /** As chosen when it was created, and again by the server that drives it; null for runs of older versions. */
  model: string | null;
  model_provider: string | null;
  /** Where its commands run, as chosen by the server that drives it, and why; null before that. */
  machine_provider: "host" | "local" | "docker" | "worker" | null;
  machine_reason: string | null;
  /** The machine whose disk it has used. */
  machine_id: string | null;
  /** Its commands run on a worker: only a server that one is connected to drives it. */
  needs_worker: ColumnType<boolean, boolean | undefined, boolean>;
  /** Who drives it, how often it changed hands, and until when: the fence of every write. */
  lease_owner: string | null;
  lease_epoch: ColumnType<number, number | undefined, number>;
  lease_until: Timestamp | null;
  /** Lease holders in a row that vanished without releasing, before they wrote a record. */
  claims_without_progress: ColumnType<number, number | undefined, number>;
  cancel_requested_at: Timestamp | null;
  started_at: Timestamp | null;
  ended_at: Timestamp | null;
  /** When its frames were removed, after the retention of streams. */
  stream_removed_at: Timestamp | null;
  result: Sealed | null;
  error_code: string | null;
  error_message: Sealed | null;
  /** Artifacts that could not be kept: one sealed JSON document. */
  unsaved_artifacts: Sealed | null;
  /** When to try again to keep them; null: not at all. */
  retry_artifacts_at: Timestamp | null;
  /** Which environment it uses and why, once that is known: one sealed JSON document. */
  environment: Perhaps<Sealed>;
  /** What it has reached and was refused: one sealed JSON document. */
  egress: Perhaps<Sealed>;
  input_tokens: ColumnType<number, number | undefined, number>;
  output_tokens: ColumnType<number, number | undefined, number>;
  cache_read_tokens: ColumnType<number, number | undefined, number>;
  cache_write_tokens: ColumnType<number, number | undefined, number>;
  reasoning_tokens: ColumnType<number, number | undefined, number>;
  /** Null where the price of the model is not known. */
  cost_usd: ColumnType<string | null, string | undefined, string | null>;
  created_at: Stamped;
  updated_at: Stamped;
}

/** What its requester has added to a run while it was active. */
export interface RunMessageTable {
  /** `msg-<uuid>` */
  id: string;
  run_id: string;
  /** In the order in which they came. */
  number: Generated<string>;
  idempotency_key: string | null;
  text: Sealed;
  created_at: Stamped;
  /** When it entered the conversation; null: not yet, or the run ended before. */
  delivered_at: Perhaps<Date>;
}

/** A call of a model for a program outside. One that is open has cost what was reserved for it. */
export interface InferenceCallTable {
  /** `resp_<hex>` */
  id: string;
  team_id: number;
  user_id: number | null;
  service_account_id: string | null;
  model: string;
  status: "open" | "completed" | "incomplete" | "failed" | "cut";
  input_tokens: ColumnType<number, number | undefined, number>;
  output_tokens: ColumnType<number, number | undefined, number>;
  cache_read_tokens: ColumnType<number, number | undefined, number>;
  cache_write_tokens: ColumnType<number, number | undefined, number>;
  reasoning_tokens: ColumnType<number, number | undefined, number>;
  /** Null where the price of the model is not known. */
  cost_usd: string | null;
  created_at: Stamped;
  ended_at: Timestamp | null;
}

/** What a run has used whose agent was deleted, and nothing else of it. A trigger writes it. */
export interface DeletedRunTable {
  id: Generated<string>;
  team_id: number;
  user_id: number | null;
  service_account_id: string | null;
  model: string | null;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  /** Null where the price of the model is not known. */
  cost_usd: string | null;
  created_at: Timestamp;
}

/** A thread of the engine: the agent's own, or a sub-agent's. */
export interface ThreadTable {
  id: string;
  agent_id: string;
  parent_id: string | null;
  created_at: Stamped;
}

export interface ThreadRecordTable {
  thread_id: string;
  seq: number;
  at: Timestamp;
  record: Sealed;
}

/** What a stream sends, as it was or will be sent. */
export interface FrameTable {
  run_id: string;
  seq: number;
  /** `<epoch ms>-<n>`; an interaction_update shares that of the frame it accompanies. */
  event_id: string;
  event: string;
  data: Sealed;
  at: Timestamp;
}

export interface IdempotentAnswerTable {
  /** `user:1` or `service_account:…` */
  principal: string;
  key: string;
  body_hash: Buffer;
  status: number;
  /** The agent that the answer is about; its body is made again from the records. */
  agent_id: string;
  run_id: string;
  created_at: Stamped;
}

export interface ArtifactTable {
  agent_id: string;
  path: Sealed;
  size_bytes: number;
  /** Name of the sealed file under the data directory. */
  blob: string;
  updated_at: Stamped;
}

/** Where the files of an agent are. */
export interface AgentDiskTable {
  agent_id: string;
  /** Of the data directory that changed them last. */
  data_id: string;
  node_name: string;
  /** What is in the object store; null: nothing yet. */
  save_id: string | null;
  /** Only servers of that data directory can continue. */
  is_bound: boolean;
  updated_at: Stamped;
}

/** Of a deleted agent, until its files are removed. */
export interface DeletedDirectoryTable {
  directory: string;
  created_at: Stamped;
}

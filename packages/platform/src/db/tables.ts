// Every table as kysely sees it. Whatever a person said, or a secret, is a Sealed value: see vault/.
import type { ColumnType, Generated, Kysely, Transaction } from "kysely";
import type { Json, Perhaps, Sealed, Stamped, Timestamp } from "./columns.ts";
import type { IdentityTable, InvitationTable, LoginLinkTable, SessionTable } from "./identity-tables.ts";

export type { Sealed } from "./columns.ts";

/** Inside or outside of a transaction. */
export type Queries = Kysely<Tables> | Transaction<Tables>;

export interface Tables {
  key_encryption_keys: KeyEncryptionKeyTable;
  teams: TeamTable;
  users: UserTable;
  service_accounts: ServiceAccountTable;
  api_keys: ApiKeyTable;
  sessions: SessionTable;
  login_links: LoginLinkTable;
  invitations: InvitationTable;
  identities: IdentityTable;
  agents: AgentTable;
  runs: RunTable;
  threads: ThreadTable;
  thread_records: ThreadRecordTable;
  frames: FrameTable;
  idempotent_answers: IdempotentAnswerTable;
  artifacts: ArtifactTable;
  handoffs: HandoffTable;
  handoff_checks: HandoffCheckTable;
  source_accounts: SourceAccountTable;
  nodes: NodeTable;
  server_addresses: ServerAddressTable;
  hosted_repositories: HostedRepositoryTable;
  pull_requests: PullRequestTable;
  pull_request_comments: PullRequestCommentTable;
  pull_request_reviews: PullRequestReviewTable;
  inference_calls: InferenceCallTable;
  audit_entries: AuditEntryTable;
  audit_head: AuditHeadTable;
  job_pools: JobPoolTable;
  webhooks: WebhookTable;
  webhook_deliveries: WebhookDeliveryTable;
  webhook_attempts: WebhookAttemptTable;
}

/** At most one row: the key that wrapped every data key. */
export interface KeyEncryptionKeyTable {
  is_only: Generated<true>;
  fingerprint: string;
  created_at: Stamped;
}

export interface TeamTable {
  id: Generated<number>;
  name: string;
  /** Seals what belongs to the team and to no agent, such as pull requests. Wrapped like an agent's. */
  data_key: Buffer;
  /** USD per calendar month; null is no limit. */
  spend_limit_usd: string | null;
  follow_ups: ColumnType<FollowUps, FollowUps | undefined, FollowUps>;
  created_at: Stamped;
}

/** Which agents take follow-ups from others than their owner: none, those of service accounts, all. */
export type FollowUps = "disabled" | "service_accounts" | "all";

export interface UserTable {
  id: Generated<number>;
  team_id: number;
  email: string;
  first_name: string | null;
  last_name: string | null;
  role: "admin" | "member";
  spend_limit_usd: string | null;
  /** Stays, for what it made; may do nothing any more. */
  removed_at: Perhaps<Date>;
  created_at: Stamped;
}

export interface ServiceAccountTable {
  id: string;
  team_id: number;
  name: string;
  created_at: Stamped;
}

export interface ApiKeyTable {
  /** The public part of `plt_<id>_<secret>`. */
  id: string;
  team_id: number;
  user_id: number | null;
  service_account_id: string | null;
  name: string;
  /** SHA-256 of the whole key: 32 random bytes need no slow hash. */
  hash: Buffer;
  scopes: string[];
  expires_at: Timestamp | null;
  revoked_at: Timestamp | null;
  /** To the minute. */
  last_used_at: Perhaps<Date>;
  /** The key it was rotated into. */
  successor_id: Perhaps<string>;
  created_at: Stamped;
}

export interface AgentTable {
  /** `bc-<uuid>` */
  id: string;
  team_id: number;
  user_id: number | null;
  service_account_id: string | null;
  name: Sealed;
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

/** Nothing in it was said by a person: those are sealed. */
export interface AgentSettings {
  model?: { id: string; params?: { id: string; value: string }[] } | undefined;
  mode: "agent" | "plan";
  env?: { type: "cloud" | "pool" | "machine"; name?: string | undefined } | undefined;
  repos: AgentRepository[];
  workOnCurrentBranch: boolean;
  autoCreatePR: boolean;
  skipReviewerRequest: boolean;
  openAsApp: boolean;
  /** Of the branch it makes; absent: named after the agent. */
  branchName?: string | undefined;
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
  /** Who drives it, how often it changed hands, and until when: the fence of every write. */
  lease_owner: string | null;
  lease_epoch: ColumnType<number, number | undefined, number>;
  lease_until: Timestamp | null;
  /** Holders in a row that were gone, without having let go, before they wrote a record. */
  claims_without_progress: ColumnType<number, number | undefined, number>;
  cancel_requested_at: Timestamp | null;
  started_at: Timestamp | null;
  ended_at: Timestamp | null;
  result: Sealed | null;
  error_code: string | null;
  error_message: Sealed | null;
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

export type HandoffState = "waiting" | "committed" | "pushed" | "opened" | "done" | "failed";

/** One per agent and repository: follow-up runs go on with the same branch and pull request. */
export interface HandoffTable {
  agent_id: string;
  /** Without scheme: `github.com/o/r`. */
  repo_url: string;
  run_id: string;
  state: HandoffState;
  branch: string;
  base_branch: string;
  base_commit: string;
  /** Has all that the agent left; null where that is nothing. */
  head_commit: string | null;
  /** What the branch was pushed at last. */
  pushed_commit: string | null;
  pr_url: string | null;
  /** The one that reviewers were asked for. */
  announced_pr_url: string | null;
  updated_at: Stamped;
}

/** Who a user is on a source host. */
export interface HandoffCheckTable {
  run_id: string;
  /** As in handoffs. */
  repo_url: string;
  commit_name: string;
  /** `shown`: it says that the run goes on. `ended`: there is nothing left to say. */
  state: "wanted" | "shown" | "ended";
  attempts: Generated<number>;
  due_at: Stamped;
}

export interface SourceAccountTable {
  user_id: number;
  /** As in addresses of repositories: `github.com`. */
  host: string;
  /** Stays, whatever the account is called. */
  account_id: string;
  login: string;
  /** Sealed with the team's key; null where the account was only named. */
  token: Buffer | null;
  created_at: Stamped;
}

export interface NodeTable {
  id: string;
  heartbeat_at: Timestamp;
  started_at: Stamped;
}

/** Where servers of this database are and were reached, without a slash at the end. */
export interface ServerAddressTable {
  url: string;
  seen_at: Stamped;
}

export interface HostedRepositoryTable {
  id: Generated<number>;
  team_id: number;
  name: string;
  default_branch: string;
  created_at: Stamped;
}

export interface PullRequestTable {
  repository_id: number;
  number: number;
  title: Sealed;
  body: Sealed;
  head_branch: string;
  base_branch: string;
  state: "open" | "closed" | "merged";
  draft: boolean;
  author: string;
  created_at: Stamped;
  updated_at: Stamped;
}

export interface PullRequestCommentTable {
  id: Generated<number>;
  repository_id: number;
  pull_request: number;
  author: string;
  body: Sealed;
  path: string | null;
  line: number | null;
  created_at: Stamped;
}

export interface PullRequestReviewTable {
  id: Generated<number>;
  repository_id: number;
  pull_request: number;
  author: string;
  verdict: "approved" | "changes_requested" | "commented";
  body: Sealed;
  created_at: Stamped;
}

/** Who may hold the lock of a job: the workers of one life of one server. */
export interface JobPoolTable {
  id: string;
  node_id: string;
  node_started_at: Timestamp;
  created_at: Stamped;
}

export type WebhookVersion = "v0" | "v1";

/** At most one per agent. */
export interface WebhookTable {
  agent_id: string;
  /** Which API it was asked for through: events and bodies are those of that version. */
  version: WebhookVersion;
  url: Sealed;
  secret: Sealed | null;
  created_at: Stamped;
}

/** The outbox: written with the end of a run, in one statement. */
export interface WebhookDeliveryTable {
  /** The same on every attempt. */
  id: string;
  agent_id: string;
  run_id: string;
  /** Made for the first attempt; every later one sends the same bytes. */
  body: Sealed | null;
  status: "waiting" | "delivered" | "dead";
  /** Made so far; each names what it does by its number. */
  attempts: ColumnType<number, number | undefined, number>;
  /** Of them, those before somebody asked for it to be sent again. */
  attempts_before: ColumnType<number, number | undefined, number>;
  next_attempt_at: Timestamp | null;
  /** When a job was last made for the next attempt; null where none is. */
  queued_at: Timestamp | null;
  created_at: Stamped;
}

export interface WebhookAttemptTable {
  delivery_id: string;
  number: number;
  started_at: Timestamp;
  duration_ms: number;
  outcome: "delivered" | "refused" | "timed_out" | "unreachable" | "forbidden";
  response_status: number | null;
}

/** Written by triggers only. */
export interface AuditEntryTable {
  seq: number;
  /** JSON, as it was hashed. */
  entry: string;
  /** SHA-256 of the hash before and the entry. */
  hash: Buffer;
}

/** One row: where the chain ends. */
export interface AuditHeadTable {
  is_only: Generated<true>;
  seq: number;
  hash: Buffer;
}

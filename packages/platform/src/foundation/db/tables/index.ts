// Every table as kysely sees it. Whatever a person said, or a secret, is a Sealed value: see vault/.
import type { Kysely, Transaction } from "kysely";
import type {
  AgentDiskTable,
  AgentTable,
  ArtifactTable,
  DeletedDirectoryTable,
  DeletedRunTable,
  FrameTable,
  IdempotentAnswerTable,
  InferenceCallTable,
  RunMessageTable,
  RunTable,
  ThreadRecordTable,
  ThreadTable,
} from "./agents.ts";
import type {
  AutomationAlertTable,
  AutomationBranchTable,
  AutomationFiringTable,
  AutomationMemoryTable,
  AutomationTable,
  AutomationTriggerTable,
  AutomationWebhookKeyTable,
  BranchCheckTable,
  DeliveryPollTable,
  EventSourceTable,
  InboundEventTable,
  InboundPullRequestTable,
  MentionTable,
  SubscriptionEventTable,
  SubscriptionTable,
  WakeUpTable,
} from "./automations.ts";
import type { AutomationAgentTable, AutomationBacktestTable, AutomationProposalTable } from "./backtests.ts";
import type {
  EnvironmentBuildLogTable,
  EnvironmentBuildTable,
  EnvironmentTable,
  EnvironmentVersionTable,
} from "./environments.ts";
import type {
  CommitStatusTable,
  HostedRepositorySaveTable,
  HostedRepositoryTable,
  PullRequestCommentTable,
  PullRequestLabelTable,
  PullRequestReviewTable,
  PullRequestTable,
} from "./git-host.ts";
import type { HandoffCheckTable, HandoffTable } from "./handoffs.ts";
import type { InboxMarkTable } from "./inbox.ts";
import type { IdentityTable, InvitationTable, LoginLinkTable, SessionTable, UsedLoginAttemptTable } from "./logins.ts";
import type {
  ApiKeyTable,
  ServiceAccountTable,
  SourceAccountTable,
  SourceCredentialTable,
  TeamTable,
  UserTable,
} from "./principals.ts";
import type { PushMessageTable, PushSubscriptionTable } from "./push.ts";
import type { AgentSecretsTable, SecretTable } from "./secrets.ts";
import type {
  AuditEntryTable,
  AuditHeadTable,
  DataDirectoryTable,
  IdentityKeyTable,
  JobPoolTable,
  KeyEncryptionKeyTable,
  NodeTable,
  OpenStreamTable,
  ServerAddressTable,
} from "./servers.ts";
import type { TeamSettingsTable, UserSettingsTable } from "./settings.ts";
import type { WebhookAttemptTable, WebhookDeliveryTable, WebhookTable } from "./webhooks.ts";
import type { WorkerClaimTable, WorkerPoolTable, WorkerTable, WorkerTokenTable } from "./workers.ts";

export type * from "./agents.ts";
export type * from "./automations.ts";
export type * from "./backtests.ts";
export type { Sealed } from "./columns.ts";
export type * from "./environments.ts";
export type * from "./git-host.ts";
export type * from "./handoffs.ts";
export type * from "./inbox.ts";
export type * from "./logins.ts";
export type * from "./principals.ts";
export type * from "./push.ts";
export type * from "./secrets.ts";
export type * from "./servers.ts";
export type * from "./settings.ts";
export type * from "./webhooks.ts";
export type * from "./workers.ts";

/** Inside or outside of a transaction. */
export type Queries = Kysely<Tables> | Transaction<Tables>;

export interface Tables {
  key_encryption_keys: KeyEncryptionKeyTable;
  teams: TeamTable;
  users: UserTable;
  team_settings: TeamSettingsTable;
  user_settings: UserSettingsTable;
  service_accounts: ServiceAccountTable;
  api_keys: ApiKeyTable;
  sessions: SessionTable;
  login_links: LoginLinkTable;
  used_login_attempts: UsedLoginAttemptTable;
  deleted_directories: DeletedDirectoryTable;
  invitations: InvitationTable;
  identities: IdentityTable;
  identity_keys: IdentityKeyTable;
  agents: AgentTable;
  agent_disks: AgentDiskTable;
  runs: RunTable;
  run_messages: RunMessageTable;
  threads: ThreadTable;
  thread_records: ThreadRecordTable;
  frames: FrameTable;
  open_streams: OpenStreamTable;
  idempotent_answers: IdempotentAnswerTable;
  artifacts: ArtifactTable;
  handoffs: HandoffTable;
  handoff_checks: HandoffCheckTable;
  source_accounts: SourceAccountTable;
  source_credentials: SourceCredentialTable;
  nodes: NodeTable;
  server_addresses: ServerAddressTable;
  data_directories: DataDirectoryTable;
  hosted_repositories: HostedRepositoryTable;
  hosted_repository_saves: HostedRepositorySaveTable;
  pull_requests: PullRequestTable;
  pull_request_comments: PullRequestCommentTable;
  pull_request_reviews: PullRequestReviewTable;
  pull_request_labels: PullRequestLabelTable;
  commit_statuses: CommitStatusTable;
  inference_calls: InferenceCallTable;
  deleted_runs: DeletedRunTable;
  audit_entries: AuditEntryTable;
  audit_head: AuditHeadTable;
  job_pools: JobPoolTable;
  environments: EnvironmentTable;
  environment_versions: EnvironmentVersionTable;
  environment_builds: EnvironmentBuildTable;
  environment_build_logs: EnvironmentBuildLogTable;
  secrets: SecretTable;
  agent_secrets: AgentSecretsTable;
  automations: AutomationTable;
  automation_triggers: AutomationTriggerTable;
  automation_webhook_keys: AutomationWebhookKeyTable;
  automation_firings: AutomationFiringTable;
  automation_alerts: AutomationAlertTable;
  automation_agents: AutomationAgentTable;
  automation_backtests: AutomationBacktestTable;
  automation_proposals: AutomationProposalTable;
  inbox_marks: InboxMarkTable;
  automation_memories: AutomationMemoryTable;
  mentions: MentionTable;
  delivery_polls: DeliveryPollTable;
  subscriptions: SubscriptionTable;
  subscription_events: SubscriptionEventTable;
  wake_ups: WakeUpTable;
  branch_checks: BranchCheckTable;
  automation_branches: AutomationBranchTable;
  event_sources: EventSourceTable;
  inbound_events: InboundEventTable;
  inbound_pull_requests: InboundPullRequestTable;
  webhooks: WebhookTable;
  webhook_deliveries: WebhookDeliveryTable;
  webhook_attempts: WebhookAttemptTable;
  push_subscriptions: PushSubscriptionTable;
  push_messages: PushMessageTable;
  workers: WorkerTable;
  worker_claims: WorkerClaimTable;
  worker_pools: WorkerPoolTable;
  worker_tokens: WorkerTokenTable;
}

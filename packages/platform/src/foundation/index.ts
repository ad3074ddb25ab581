// What other groups may use of foundation.

export type { GithubSettings, ModelSettings, OidcSettings, Settings, SourceHostSettings } from "./config/index.ts";
export type { PlatformContext, ServerContext } from "./context.ts";
export {
  type AgentRepository,
  type AgentSettings,
  type AgentTable,
  actingAs,
  becomeActor,
  type Connection,
  copyIn,
  copyOut,
  describeNode,
  type EnvironmentBuildTable,
  type EnvironmentTable,
  type EnvironmentVersionTable,
  type FollowUps,
  type FrameTable,
  type HandoffCheckTable,
  type HandoffTable,
  isDatabaseAway,
  isUniqueViolation,
  type Listener,
  listNodes,
  markRestore,
  migrationNames,
  type Notifications,
  notify,
  openClient,
  openDatabase,
  openPool,
  type PullRequestTable,
  type Queries,
  type RunStatus,
  type RunTable,
  recordAuditEvent,
  refuseHalfRestored,
  retryOnce,
  retryWhileAway,
  type SessionTable,
  type StoredSettings,
  type Tables,
  type UserTable,
  unmarkRestore,
  type WebhookAttemptTable,
  type WebhookVersion,
} from "./db/index.ts";
export {
  listNames,
  listStale,
  openFile,
  pathTo,
  randomId,
  removeTree,
  type TreeEntry,
  unlockDirectory,
  walk,
} from "./files/index.ts";
export {
  type Admission,
  type Api,
  ApiError,
  type Authenticate,
  alreadySent,
  answerUnserved,
  type Call,
  type Caller,
  decodeCursor,
  decodeNumber,
  type Env,
  type ErrorRenderer,
  encodeCursor,
  fileResponse,
  invalid,
  type Page,
  type Position,
  pageOf,
  readBody,
  readJson,
  validate,
} from "./http/index.ts";
export {
  checkedAddresses,
  checkedLookup,
  isForHttp,
  type NetworkPolicy,
  privateAddressReason,
} from "./network/index.ts";
export { type Principal, principalName, type Role, type Scope, scopes, scopesOf } from "./principal.ts";
export { inBatches, type RetentionRule } from "./retention.ts";
export { isStorageFull, type Storage, storageFullMessage } from "./storage/index.ts";
export type { Activity, Subject } from "./subject.ts";
export { type Log, type Metrics, silentLog } from "./telemetry/index.ts";
export {
  type DataKey,
  type KeyEncryption,
  openSealed,
  readKeyFile,
  restoreKeyFile,
  seal,
  type Vault,
} from "./vault/index.ts";
export { version } from "./version.ts";

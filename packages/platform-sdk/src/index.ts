// What users of the package import.
import { accountCalls } from "./account.ts";
import { agentCalls } from "./agents.ts";
import { openDefaults } from "./defaults.ts";
import { processRuntime } from "./runtime.ts";

const defaults = openDefaults();
export const Agent = agentCalls(processRuntime, defaults);
export const Platform = accountCalls(processRuntime, defaults);

export type { Me, Me as SDKUser, ModelEntry, ModelEntry as ModelListItem, ModelEntry as SDKModel } from "./account.ts";
export type { SDKAgent } from "./agent.ts";
export type {
  AgentMessage,
  CloudAgentInfo,
  LocalAgentInfo,
  Page,
  Page as ListResult,
  SDKAgentInfo,
  SDKAgentStatus,
} from "./agent-calls.ts";
export type { AgentUsage, Artifact, Artifact as SDKArtifact, RunUsage } from "./agent-files.ts";
export type {
  SdkAuthStatus,
  SdkCredentialOptions as SdkAuthStatusOptions,
  SdkCredentialOptions as SdkLogoutOptions,
  SdkLoginOptions,
  SdkLoginResult,
} from "./auth.ts";
export { DEFAULT_LOGIN_API_KEY_TTL_MS } from "./auth.ts";
export type { ConversationStep, ConversationTurn } from "./conversation.ts";
export type { ConfigureOptions, ConfigureOptions as PlatformConfigureOptions } from "./defaults.ts";
export type {
  ErrorFacts,
  ErrorFacts as PlatformAgentErrorOptions,
  ErrorFacts as PlatformSdkErrorOptions,
} from "./errors.ts";
export {
  AgentBusyError,
  AgentNotFoundError,
  AuthenticationError,
  ConfigurationError,
  IntegrationNotConnectedError,
  NetworkError,
  PlatformAgentError,
  PlatformSdkError,
  RateLimitError,
  UnknownAgentError,
  UnsupportedRunOperationError,
} from "./errors.ts";
export type {
  CustomTool,
  CustomTool as SDKCustomTool,
  CustomToolContent,
  CustomToolContext,
  CustomToolContext as SDKCustomToolContext,
  CustomToolResult,
  CustomToolResult as SDKCustomToolResult,
  JsonValue,
  JsonValue as SDKJsonValue,
  LocalAgentOptions,
  LocalProvider,
  SettingSource,
} from "./local-options.ts";
export type {
  LocalAgentRecord,
  LocalAgentStore,
  LocalCheckpoint,
  LocalClaim,
  LocalRunEvent,
  LocalRunRecord,
} from "./local-store.ts";
export type { SdkCredentialStore, StoredSdkCredentials } from "./login.ts";
export type {
  SDKAssistantMessage,
  SDKMessage,
  SDKRequestMessage,
  SDKStatusMessage,
  SDKSystemMessage,
  SDKTaskMessage,
  SDKThinkingMessage,
  SDKToolUseMessage,
  SDKUsageMessage,
  SDKUserMessageEvent,
  TextBlock,
  TokenUsage,
} from "./messages.ts";
export type {
  AgentLookup,
  AgentLookup as AgentOperationOptions,
  AgentLookup as GetAgentOptions,
  AgentOptions,
  CloudAgentOptions,
  ConnectionOptions,
  ConnectionOptions as PlatformRequestOptions,
  GetUsageOptions,
  InteractionUpdate,
  ListAgentsOptions,
  ListCloudAgents,
  ListLocalAgents,
  ListMessagesOptions,
  ListMessagesOptions as GetAgentMessagesOptions,
  ListRunsOptions,
  McpServerConfig,
  ModelSelection,
  Repository,
  RunOptions,
  RunOptions as GetRunOptions,
  SDKImage,
  SDKUserMessage,
  SendLocalOptions,
  SendLocalOptions as LocalSendOptions,
  SendOptions,
  SubagentDefinition,
  SubagentDefinition as AgentDefinition,
  UsageOptions,
  UserMessage,
} from "./options.ts";
export type * from "./public-types.ts";
export type {
  Run,
  RunError,
  RunGit,
  RunOperation,
  RunResult,
  RunResultStatus,
  RunStatus,
  SteerAckOutcome,
} from "./run.ts";

// What users of the package import.
import { accountCalls } from "./account.ts";
import { agentCalls } from "./agents.ts";
import { realSurroundings } from "./surroundings.ts";

export const Agent = agentCalls(realSurroundings);
export const Platform = accountCalls(realSurroundings);

export type { Me, ModelEntry } from "./account.ts";
export type { SDKAgent } from "./agent.ts";
export type {
  AgentMessage,
  CloudAgentInfo,
  LocalAgentInfo,
  Page,
  SDKAgentInfo,
  SDKAgentStatus,
} from "./agent-calls.ts";
export type { AgentUsage, Artifact } from "./agent-files.ts";
export type { ConversationStep, ConversationTurn } from "./conversation.ts";
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
  CustomToolContent,
  CustomToolContext,
  CustomToolResult,
  JsonValue,
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
export type { SDKMessage, TextBlock, TokenUsage } from "./messages.ts";
export type {
  AgentLookup,
  AgentOptions,
  CloudAgentOptions,
  ConnectionOptions,
  InteractionUpdate,
  ListAgentsOptions,
  ListCloudAgents,
  ListLocalAgents,
  ListRunsOptions,
  McpServerConfig,
  ModelSelection,
  Repository,
  RunOptions,
  SDKImage,
  SendLocalOptions,
  SendOptions,
  SubagentDefinition,
  UsageOptions,
  UserMessage,
} from "./options.ts";
export type { Run, RunGit, RunOperation, RunResult, RunStatus } from "./run.ts";

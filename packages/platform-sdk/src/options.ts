// What can be asked for: of an agent, of one prompt, of a list.
import type { InteractionUpdate, ModelSelection, PromptImage, Repository } from "@agentcli/protocol/api";
import type { ConversationStep } from "./conversation.ts";
import type { CustomTool, LocalAgentOptions } from "./local-options.ts";
import type { LocalAgentStore } from "./local-store.ts";

export type { InteractionUpdate, ModelSelection, Repository };

/** How to reach the platform, with every call. */
export interface ConnectionOptions {
  /** Before PLATFORM_API_KEY, which goes before what `Platform.auth.login` has kept. An empty one is refused. */
  apiKey?: string;
  /** Before PLATFORM_BACKEND_URL; without both it is http://127.0.0.1:7420. */
  backendUrl?: string;
}

/** Where an agent is looked for; the store only for local ones. */
export interface AgentLookup extends ConnectionOptions {
  cwd?: string;
  store?: LocalAgentStore;
}

export interface AgentOptions extends ConnectionOptions {
  /** Without one the platform's default; a local agent needs one. One that the platform does not list is refused at once. */
  model?: ModelSelection;
  /** For people; else it is made from the first prompt. */
  name?: string;
  /** `plan` answers with a plan and changes nothing. */
  mode?: "agent" | "plan";
  cloud?: CloudAgentOptions;
  /** The agent works on this machine, in this process. Not together with `cloud`. */
  local?: LocalAgentOptions;
  /** Local only: the tools it has, by the names its messages show; all unless given. Unknown names are refused. */
  tools?: string[];
  /** Local only: tools it does not have, also if `tools` lists them. */
  disallowedTools?: string[];
  /** Local only: instead of the instructions that the model gets about its work. */
  systemPrompt?: string;
  /** By name; also for every later prompt that does not bring its own. */
  mcpServers?: Record<string, McpServerConfig>;
  /** Sub-agents by name. */
  agents?: Record<string, SubagentDefinition>;
  /** `bc-<uuid>`, so that creating twice makes one agent; a local one is `agent-<uuid>`. Not together with `cloud.envVars`. */
  agentId?: string;
  /** For the first prompt; one is made up where none is given. */
  idempotencyKey?: string;
}

export interface CloudAgentOptions {
  env?: { type: "cloud" | "pool" | "machine"; name?: string };
  repos?: Repository[];
  workOnCurrentBranch?: boolean;
  autoCreatePR?: boolean;
  skipReviewerRequest?: boolean;
  /** Open pull requests as the app and not as the user. */
  openAsPlatformGithubApp?: boolean;
  /** Each run leaves a recording for `agentcli replay`: the artifact `artifacts/recordings/RUN.jsonl`. */
  recordRuns?: boolean;
  /** For all runs. The platform then chooses the agent's id, which is known after the first `send`. */
  envVars?: Record<string, string>;
  metadata?: Record<string, string>;
  /** Taken and without effect. */
  agentServeAgent?: string;
}

export type McpServerConfig =
  /** `cwd` is for local agents: elsewhere a server runs in the repository. */
  | { type?: "stdio"; command: string; args?: string[]; env?: Record<string, string>; cwd?: string }
  | {
      type?: "http" | "sse";
      url: string;
      headers?: Record<string, string>;
      auth?: { CLIENT_ID: string; CLIENT_SECRET?: string; scopes?: string[] };
    };

export interface SubagentDefinition {
  description: string;
  prompt: string;
  model?: ModelSelection | "inherit";
  /** Names of the agent's servers. A server of its own is refused. */
  mcpServers?: string[];
}

export type SDKImage = PromptImage;
export interface SDKUserMessage {
  text: string;
  images?: SDKImage[];
}
export type UserMessage = string | SDKUserMessage;

export interface SendOptions {
  /** Holds for later prompts too. */
  model?: ModelSelection;
  /** In place of those the agent was created with, for this run. */
  mcpServers?: Record<string, McpServerConfig>;
  /** Holds for later prompts too. */
  mode?: "agent" | "plan";
  /** For this run only. */
  cloud?: { envVars?: Record<string, string> };
  local?: SendLocalOptions;
  /** The same key with the same prompt makes one run; one is made up where none is given. */
  idempotencyKey?: string;
  /** Called with each complete step. What it throws ends the calls, and `wait` throws it. */
  onStep?: (event: { step: ConversationStep }) => unknown;
  /** Called with every update of the stream, in order. A promise it returns is waited for before the next. */
  onDelta?: (event: { update: InteractionUpdate }) => unknown;
}

export interface SendLocalOptions {
  /** Ends a run that is under way, in this process or another, instead of AgentBusyError. */
  force?: boolean;
  /** In place of those the agent was created with, for this run. */
  customTools?: Record<string, CustomTool>;
}

export type ListAgentsOptions = ListCloudAgents | ListLocalAgents;

export interface ListLocalAgents extends ConnectionOptions {
  runtime: "local";
  /** Those that work there; the directory of the process unless given. */
  cwd?: string;
  store?: LocalAgentStore;
  includeArchived?: boolean;
  limit?: number;
  cursor?: string;
}

export interface ListCloudAgents extends ConnectionOptions {
  runtime?: "cloud";
  limit?: number;
  cursor?: string;
  /** Those that work on this pull request. */
  prUrl?: string;
  includeArchived?: boolean;
  /** `API`, `SDK`, … */
  source?: string;
}

export interface ListRunsOptions extends AgentLookup {
  runtime?: "cloud" | "local";
  limit?: number;
  cursor?: string;
}

export interface RunOptions extends AgentLookup {
  runtime?: "cloud" | "local";
  /** Required for runs on the platform. */
  agentId?: string;
  /** Ends what reads or waits for the run here. The run goes on. */
  signal?: AbortSignal;
}

export interface ListMessagesOptions extends AgentLookup {
  runtime?: "local";
  limit?: number;
  /** How many of the oldest are left out. */
  offset?: number;
}

export interface GetUsageOptions {
  /** Of this run only. */
  runId?: string;
}

export type UsageOptions = AgentLookup & GetUsageOptions;

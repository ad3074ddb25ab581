// What one can do with agents, wherever they are.
import type { AgentListItem } from "@agentcli/protocol/api";
import type { SDKAgent } from "./agent.ts";
import type { AgentUsage } from "./agent-files.ts";
import type { TextBlock } from "./messages.ts";
import type {
  AgentLookup,
  AgentOptions,
  ListAgentsOptions,
  ListMessagesOptions,
  ListRunsOptions,
  RunOptions,
  UsageOptions,
  UserMessage,
} from "./options.ts";
import type { Run, RunResult } from "./run.ts";

/** How its last run stands; the platform does not say in a list whether that one failed. */
export type SDKAgentStatus = "running" | "finished" | "error";

interface AgentFacts {
  agentId: string;
  name: string;
  /** What it is about, in one line. */
  summary: string;
  /** Absent where the agent is archived. */
  status?: SDKAgentStatus;
  archived: boolean;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** Milliseconds since 1970. */
  lastModified: number;
  latestRunId?: string;
}

export interface CloudAgentInfo extends AgentFacts, Pick<AgentListItem, "env" | "metadata" | "url"> {
  runtime: "cloud";
  /** Their addresses. */
  repos?: string[];
}

export interface LocalAgentInfo extends AgentFacts {
  runtime: "local";
  /** Where it works. */
  cwd: string;
}

export type SDKAgentInfo = CloudAgentInfo | LocalAgentInfo;

export interface Page<Item> {
  items: Item[];
  /** Absent on the last page. */
  nextCursor?: string;
}

/** One message of a conversation. */
export interface AgentMessage {
  type: "user" | "assistant";
  /** The same whenever the conversation is read. */
  uuid: string;
  agent_id: string;
  run_id: string;
  message: { role: "user" | "assistant"; content: TextBlock[] };
}

/** The API of one agent: its methods are the routes, one each. */
export interface AgentCalls {
  /** Makes sure of the model and nothing else: the first `send` creates the agent. */
  create(options?: AgentOptions): Promise<SDKAgent>;
  /** A handle on an agent that is there. Asks nothing. */
  resume(agentId: string, options?: AgentOptions): Promise<SDKAgent>;
  /** One agent, one prompt, to its end. */
  prompt(message: UserMessage, options?: AgentOptions): Promise<RunResult>;
  /** Newest first. */
  list(options?: ListAgentsOptions): Promise<Page<SDKAgentInfo>>;
  get(agentId: string, options?: AgentLookup): Promise<SDKAgentInfo>;
  /** Newest first. */
  listRuns(agentId: string, options?: ListRunsOptions): Promise<Page<Run>>;
  /** A run of a local agent is found without the agent's id. */
  getRun(runId: string, options?: RunOptions): Promise<Run>;
  cancelRun(runId: string, options?: RunOptions): Promise<void>;
  /** Ends its run, and it takes no more prompts. A second time changes nothing. */
  archive(agentId: string, options?: AgentLookup): Promise<void>;
  unarchive(agentId: string, options?: AgentLookup): Promise<void>;
  /** For good, with its conversation and its files. */
  delete(agentId: string, options?: AgentLookup): Promise<void>;
  getUsage(agentId: string, options?: UsageOptions): Promise<AgentUsage>;
  messages: {
    /** The whole conversation of a local agent, oldest first. */
    list(agentId: string, options?: ListMessagesOptions): Promise<AgentMessage[]>;
  };
}

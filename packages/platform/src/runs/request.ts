// What a run was asked for, as it is sealed beside it, and what its agent was created with.
import type { CustomSubagent, McpServer, ModelSelection, PromptImage } from "@agentcli/protocol/api";
import type { AgentSettings } from "../db/index.ts";

/** Sealed in `runs.request`. */
export interface RunRequest {
  prompt: { text: string; images: PromptImage[] };
  mode: "agent" | "plan";
  model?: ModelSelection | undefined;
  /** In place of the agent's; absent: those. */
  mcpServers?: McpServer[] | undefined;
  /** For this run only. */
  envVars: Record<string, string>;
}

/** Sealed in `agents.private_settings`. */
export interface PrivateSettings {
  envVars: Record<string, string>;
  mcpServers: McpServer[];
  customSubagents: CustomSubagent[];
  /** The caller's own notes. */
  metadata: Record<string, string>;
}

/** An agent with what is sealed of it opened. */
export interface KnownAgent {
  id: string;
  teamId: number;
  userId: number | null;
  serviceAccountId: string | null;
  name: string;
  settings: AgentSettings;
  private: PrivateSettings;
}

export const requestPlace = (runId: string): string => `request:${runId}`;
export const privateSettingsPlace = (agentId: string): string => `private-settings:${agentId}`;
export const namePlace = (agentId: string): string => `name:${agentId}`;
export const resultPlace = (runId: string): string => `result:${runId}`;
export const errorPlace = (runId: string): string => `error:${runId}`;

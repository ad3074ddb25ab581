// The request of a run and the settings of its agent, as they are sealed in the database.
import type { CustomSubagent, McpServer, ModelSelection, PromptImage, RunEnvironment } from "@agentcli/protocol/api";
import type { AgentSettings, DataKey } from "../../foundation/index.ts";

/** Sealed in `runs.request`. */
export interface RunRequest {
  prompt: { text: string; images: PromptImage[] };
  mode: "agent" | "plan";
  model?: ModelSelection | undefined;
  /** Replaces the agent's; if absent, the agent's apply. */
  mcpServers?: McpServer[] | undefined;
  /** For this run only. */
  envVars: Record<string, string>;
  /** The trace that the run is part of. */
  traceparent?: string;
  /** What it may cost; absent: the limits of its user and team alone. */
  budgetUsd?: number;
  /** Events that woke the agent: a file below its home directory, written before the run begins. */
  inbox?: { name: string; text: string } | undefined;
}

/** Sealed in `agents.private_settings`. */
export interface PrivateSettings {
  envVars: Record<string, string>;
  mcpServers: McpServer[];
  customSubagents: CustomSubagent[];
  /** The caller's own notes. */
  metadata: Record<string, string>;
}

/** An agent with its sealed columns decrypted. */
export interface AgentRecord {
  id: string;
  /** Name of its directories below the data directory. */
  directory: string;
  teamId: number;
  userId: number | null;
  serviceAccountId: string | null;
  /** Which client created it. */
  source: string;
  name: string;
  settings: AgentSettings;
  private: PrivateSettings;
}

export const requestAad = (runId: string): string => `request:${runId}`;
export const privateSettingsAad = (agentId: string): string => `private-settings:${agentId}`;
export const openPrivateSettings = (agentId: string, key: DataKey, sealed: Buffer): PrivateSettings =>
  JSON.parse(key.openText(sealed, privateSettingsAad(agentId)));
export const agentNameAad = (agentId: string): string => `name:${agentId}`;
export const resultAad = (runId: string): string => `result:${runId}`;
export const environmentAad = (runId: string): string => `environment:${runId}`;
export const openEnvironment = (runId: string, key: DataKey, sealed: Buffer): RunEnvironment =>
  JSON.parse(key.openText(sealed, environmentAad(runId)));
export const errorAad = (runId: string): string => `error:${runId}`;

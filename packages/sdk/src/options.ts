// Options of the program, of a thread and of one turn.
import type { SandboxMode } from "@agentcli/protocol";
import type { ConfigObject } from "./config-overrides.ts";

export type { SandboxMode };

export interface ClientOptions {
  /** The program to run in place of the bundled one. A JavaScript file is run with this Node. */
  agentPathOverride?: string;
  /** URL of the default provider. */
  baseUrl?: string;
  /** Passed to the program as AGENT_API_KEY, also in addition to `env`. */
  apiKey?: string;
  /** Configuration for every run. Tables may be nested; a top-level key may be dotted. */
  config?: ConfigObject;
  /** More configuration, each `key=value` as for `-c`; overrides `config`. */
  configOverrides?: string[];
  /** Replaces the environment of this process. */
  env?: Record<string, string>;
}

export interface ThreadOptions {
  model?: string;
  sandboxMode?: SandboxMode;
  workingDirectory?: string;
  skipGitRepoCheck?: boolean;
  modelReasoningEffort?: ModelReasoningEffort;
  networkAccessEnabled?: boolean;
  webSearchMode?: WebSearchMode;
  /** `live` or `disabled`; `webSearchMode` overrides it. */
  webSearchEnabled?: boolean;
  /** Without a user every request is declined. With all policies but `never` the model may ask. */
  approvalPolicy?: ApprovalPolicy;
  /** More directories that are writable with `workspace-write`. */
  additionalDirectories?: string[];
}

export interface TurnOptions {
  /** A JSON Schema. The final response is then a JSON text that satisfies it. */
  outputSchema?: unknown;
  /** Ends the turn, the program and everything it started. */
  signal?: AbortSignal;
}

export type ModelReasoningEffort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | "ultra";
export type WebSearchMode = "disabled" | "cached" | "live";
export type ApprovalPolicy = "never" | "on-request" | "on-failure" | "untrusted";

export type UserInput = { type: "text"; text: string } | { type: "local_image"; path: string };
export type Input = string | UserInput[];

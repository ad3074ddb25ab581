// What can be asked for: of the program, of a thread, of one turn.
import type { SandboxMode } from "@agentcli/protocol";
import type { ConfigObject } from "./config-overrides.ts";

export type { SandboxMode };

export interface ClientOptions {
  /** Another program than the one the package ships with. A JavaScript file is started with this Node. */
  agentPathOverride?: string;
  /** Address of the default provider. */
  baseUrl?: string;
  /** Reaches the program as AGENT_API_KEY, also beside `env`. */
  apiKey?: string;
  /** Configuration for every run. Tables may be nested; a key at the top may be dotted. */
  config?: ConfigObject;
  /** More configuration, each `key=value` as after `-c`; wins over `config`. */
  configOverrides?: string[];
  /** The whole environment of the program, in place of that of this process. */
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
  /** `live` or `disabled`; `webSearchMode` wins. */
  webSearchEnabled?: boolean;
  /** With nobody present nothing is granted, whatever the policy: all but `never` let the model ask and be refused. */
  approvalPolicy?: ApprovalPolicy;
  /** More directories that `workspace-write` may write. */
  additionalDirectories?: string[];
}

export interface TurnOptions {
  /** A JSON Schema that the final response, then a JSON text, satisfies. */
  outputSchema?: unknown;
  /** Ends the turn, the program and everything it started. */
  signal?: AbortSignal;
}

export type ModelReasoningEffort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | "ultra";
export type WebSearchMode = "disabled" | "cached" | "live";
export type ApprovalPolicy = "never" | "on-request" | "on-failure" | "untrusted";

export type UserInput = { type: "text"; text: string } | { type: "local_image"; path: string };
export type Input = string | UserInput[];

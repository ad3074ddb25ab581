// What can be asked of an agent that works on this machine.
import type { LocalAgentStore } from "./local-store.ts";

export interface LocalAgentOptions {
  /** Where it works; the directory of the process unless given, or for a known agent where it worked before. */
  cwd?: string;
  /** More directories that it may change; only a sandbox keeps it to them. */
  dirs?: string[];
  /** Whose files count: hooks, rules, skills, sub-agents, MCP servers. Only the project's unless given. */
  settingSources?: SettingSource[];
  /** Without a sandbox, commands can do on this machine whatever this process can. */
  sandboxOptions?: {
    enabled: boolean;
    /** Memory and `/tmp` as sizes such as `512m` or `4g`; defaults: no limit, 4,096 processes, a `/tmp` of `4g`. */
    limits?: { memory?: string; processes?: number; tmp?: string };
  };
  /** Not offered: gate calls with hooks. Asking for it is refused rather than ignored. */
  autoReview?: boolean;
  /** Where agents are kept; files under ~/.platform/sdk (or PLATFORM_SDK_HOME) unless given. */
  store?: LocalAgentStore;
  /** Functions of this program that the model may call, by name. */
  customTools?: Record<string, CustomTool>;
  /** Whether a request to the model that failed for the moment is sent again; it is unless this is false. */
  enableAgentRetries?: boolean;
  /** Who is asked for inference in place of the platform. */
  provider?: LocalProvider;
}

export type SettingSource = "project" | "user" | "team" | "mdm" | "plugins" | "all";

export interface LocalProvider {
  /** Requests go to baseUrl/responses or baseUrl/chat/completions. */
  baseUrl: string;
  /** `responses` unless given. */
  wireApi?: "responses" | "chat" | "anthropic";
  apiKey?: string;
  /** Name of the environment variable that has the key. */
  apiKeyEnv?: string;
  /** Sent with every request. */
  headers?: Record<string, string>;
}

export interface CustomTool {
  description?: string;
  /** JSON Schema of an object; calls that do not satisfy it fail and do not reach `execute`. */
  inputSchema?: Record<string, unknown>;
  /** JSON Schema that structured results must satisfy. */
  outputSchema?: Record<string, unknown>;
  annotations?: {
    title?: string;
    readOnlyHint?: boolean;
    idempotentHint?: boolean;
    destructiveHint?: boolean;
    openWorldHint?: boolean;
  };
  /** What it throws is the result that the model gets. The signal fires when the run is cancelled. */
  execute(args: Record<string, unknown>, context: CustomToolContext): CustomToolResult | Promise<CustomToolResult>;
}

export interface CustomToolContext {
  toolCallId?: string;
  signal?: AbortSignal;
}

/** An object with a list `content` is taken as it is; any other value is sent as JSON. */
export type CustomToolResult = string | JsonValue | CustomToolContent | undefined;

export interface CustomToolContent {
  content: ({ type: "text"; text: string } | { type: "image"; data: string; mimeType: string })[];
  isError?: boolean;
  structuredContent?: Record<string, unknown>;
}

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

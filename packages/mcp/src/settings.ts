// Reads one `[mcp_servers.<name>]` section, or says what is wrong with it.
import type { McpServer, ToolApproval } from "@agentcli/protocol";

export type Transport =
  | {
      kind: "stdio";
      command: string;
      args: string[];
      env: Record<string, string>;
      /** Names of variables passed on from the host's environment. */
      envVars: string[];
      cwd: string | undefined;
      sandbox: "read-only" | "workspace-write" | undefined;
    }
  | {
      kind: "http";
      url: string;
      /** `sse` is the transport of before 2025-03. */
      wire: "streamable" | "sse";
      bearerTokenEnvVar: string | undefined;
      headers: Record<string, string>;
      /** Header name to variable name. */
      envHeaders: Record<string, string>;
      /** A command that prints more headers, as JSON. */
      headersHelper: string | undefined;
      login: { scopes: string[] | undefined; clientId?: string; callbackPort?: number; resource?: string };
    };
export type StdioTransport = Extract<Transport, { kind: "stdio" }>;
export type HttpTransport = Extract<Transport, { kind: "http" }>;

export interface ServerSettings {
  name: string;
  transport: Transport;
  required: boolean;
  startTimeoutMs: number;
  toolTimeoutMs: number;
  enabledTools: string[] | undefined;
  disabledTools: string[];
  parallel: boolean;
  approval: { default: ToolApproval; byTool: Record<string, ToolApproval> };
}

export type SettingsResult = { kind: "settings"; settings: ServerSettings } | { kind: "problem"; message: string };

const stdioOnly = ["args", "env", "env_vars", "cwd", "sandbox"] as const;
const httpOnly = [
  "url",
  "bearer_token_env_var",
  "http_headers",
  "env_http_headers",
  "http_headers_helper",
  "scopes",
  "oauth",
  "oauth_resource",
] as const;

const defaultStartTimeoutMs = 30_000;
const defaultToolTimeoutSeconds = 300;

export function readSettings(
  name: string,
  server: McpServer,
  { startTimeoutMs = defaultStartTimeoutMs }: { startTimeoutMs?: number } = {},
): SettingsResult {
  const invalid = findInvalid(server);
  if (invalid) return { kind: "problem", message: `mcp_servers.${name}: ${invalid}` };
  const settings = {
    name,
    transport: transportOf(server),
    required: server.required ?? false,
    startTimeoutMs: inMilliseconds(server.startup_timeout_sec) ?? server.startup_timeout_ms ?? startTimeoutMs,
    toolTimeoutMs: (server.tool_timeout_sec ?? defaultToolTimeoutSeconds) * 1000,
    enabledTools: server.enabled_tools,
    disabledTools: server.disabled_tools ?? [],
    parallel: server.supports_parallel_tool_calls ?? false,
    approval: { default: server.default_tools_approval_mode ?? "auto", byTool: approvalsByTool(server) },
  };
  return { kind: "settings", settings };
}

export const isOffered = ({ enabledTools, disabledTools }: ServerSettings, tool: string): boolean =>
  (enabledTools?.includes(tool) ?? true) && !disabledTools.includes(tool);

function findInvalid(server: McpServer): string | null {
  if ("bearer_token" in server) {
    return "bearer_token is not supported. Put the token into an environment variable and name it with bearer_token_env_var.";
  }
  if (server.command === undefined && server.url === undefined) {
    return "set command (a program to start) or url (a server to connect to).";
  }
  const [kind, foreign] =
    server.command === undefined ? (["streamable_http", stdioOnly] as const) : (["stdio", httpOnly] as const);
  const field = foreign.find((key) => server[key] !== undefined);
  if (field) return `${field} is not supported for ${kind}.`;
  if (server.type !== undefined && (server.type === "stdio") !== (kind === "stdio")) {
    return `type = "${server.type}" cannot be used with ${kind === "stdio" ? "command" : "url"}.`;
  }
  return server.url === undefined || isWebAddress(server.url)
    ? null
    : `url is not an http or https address: ${server.url}`;
}

function transportOf(server: McpServer): Transport {
  if (server.command !== undefined) {
    return {
      kind: "stdio",
      command: server.command,
      args: server.args ?? [],
      env: server.env ?? {},
      envVars: (server.env_vars ?? []).flatMap((entry) => (typeof entry === "string" ? entry : (entry.name ?? []))),
      cwd: server.cwd,
      sandbox: server.sandbox,
    };
  }
  return {
    kind: "http",
    url: server.url ?? "",
    wire: server.type === "sse" ? "sse" : "streamable",
    bearerTokenEnvVar: server.bearer_token_env_var,
    headers: server.http_headers ?? {},
    envHeaders: server.env_http_headers ?? {},
    headersHelper: server.http_headers_helper,
    login: {
      scopes: server.scopes,
      clientId: server.oauth?.client_id,
      callbackPort: server.oauth?.callback_port,
      resource: server.oauth_resource,
    },
  };
}

const approvalsByTool = ({ tools = {} }: McpServer): Record<string, ToolApproval> =>
  Object.fromEntries(
    Object.entries(tools).flatMap(([tool, { approval_mode }]) => (approval_mode ? [[tool, approval_mode]] : [])),
  );

const inMilliseconds = (seconds: number | undefined): number | undefined =>
  seconds === undefined ? undefined : seconds * 1000;

function isWebAddress(text: string): boolean {
  try {
    return /^https?:$/.test(new URL(text).protocol);
  } catch {
    return false;
  }
}

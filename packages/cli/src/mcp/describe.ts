// Configured MCP servers as programs and people read them.
import type { McpServer } from "@agentcli/protocol";

export type AuthStatus = "unsupported" | "not_logged_in" | "bearer_token" | "o_auth";

export const transportOf = (server: McpServer) =>
  server.url === undefined
    ? {
        type: "stdio" as const,
        command: server.command ?? "",
        args: server.args ?? [],
        env: server.env ?? null,
        env_vars: server.env_vars ?? [],
        cwd: server.cwd ?? null,
      }
    : {
        type: server.type === "sse" ? ("sse" as const) : ("streamable_http" as const),
        url: server.url,
        bearer_token_env_var: server.bearer_token_env_var ?? null,
        http_headers: server.http_headers ?? null,
        env_http_headers: server.env_http_headers ?? null,
        http_headers_helper: server.http_headers_helper ?? null,
      };

/** What is shown of a server beside its configuration. */
export interface ServerExtra {
  /** Why it is not used though it is configured. */
  blocked?: string | undefined;
}

const common = (name: string, server: McpServer, { blocked }: ServerExtra) => ({
  name,
  enabled: server.enabled ?? true,
  disabled_reason: blocked ?? null,
  transport: transportOf(server),
});

const waits = (server: McpServer) => ({
  startup_timeout_sec:
    server.startup_timeout_sec ?? (server.startup_timeout_ms === undefined ? null : server.startup_timeout_ms / 1000),
  tool_timeout_sec: server.tool_timeout_sec ?? null,
});

export const listEntry = (name: string, server: McpServer, { auth, ...extra }: ServerExtra & { auth: AuthStatus }) => ({
  ...common(name, server, extra),
  ...waits(server),
  auth_status: auth,
});

export const getEntry = (name: string, server: McpServer, extra: ServerExtra = {}) => ({
  ...common(name, server, extra),
  enabled_tools: server.enabled_tools ?? null,
  disabled_tools: server.disabled_tools ?? null,
  ...waits(server),
});

export type ListEntry = ReturnType<typeof listEntry>;

/** One table for each kind of server, since they have little in common. */
export function listText(entries: ListEntry[]): string {
  const status = (entry: ListEntry) => [entry.enabled ? "enabled" : "disabled", entry.auth_status];
  const stdio = entries.flatMap(({ transport, ...entry }) =>
    transport.type === "stdio"
      ? [
          [
            entry.name,
            transport.command,
            transport.args.join(" ") || "-",
            masked(transport.env),
            ...status({ transport, ...entry }),
          ],
        ]
      : [],
  );
  const http = entries.flatMap(({ transport, ...entry }) =>
    transport.type !== "stdio"
      ? [[entry.name, transport.url, transport.bearer_token_env_var ?? "-", ...status({ transport, ...entry })]]
      : [],
  );
  return [
    table(["Name", "Command", "Args", "Env", "Status", "Auth"], stdio),
    table(["Name", "Url", "Bearer Token Env Var", "Status", "Auth"], http),
  ]
    .filter(Boolean)
    .join("\n");
}

export function getText(name: string, server: McpServer, extra: ServerExtra = {}): string {
  const { transport, enabled, disabled_reason, ...entry } = getEntry(name, server, extra);
  const details =
    transport.type === "stdio"
      ? [
          ["command", transport.command],
          ["args", transport.args.join(" ") || "-"],
          ["cwd", transport.cwd ?? "-"],
          ["env", masked(transport.env)],
        ]
      : [
          ["url", transport.url],
          ["bearer_token_env_var", transport.bearer_token_env_var ?? "-"],
          ["http_headers", masked(transport.http_headers)],
          ["http_headers_helper", transport.http_headers_helper ?? "-"],
          [
            "env_http_headers",
            Object.entries(transport.env_http_headers ?? {})
              .map((pair) => pair.join("="))
              .join(", ") || "-",
          ],
        ];
  const rest = Object.entries({
    enabled_tools: entry.enabled_tools?.join(", "),
    disabled_tools: entry.disabled_tools?.join(", "),
    startup_timeout_sec: entry.startup_timeout_sec,
    tool_timeout_sec: entry.tool_timeout_sec,
  }).filter(([, value]) => value !== null && value !== undefined);
  const rows = [
    ["enabled", disabled_reason === null ? enabled : `${enabled} (${disabled_reason})`],
    ["transport", transport.type],
    ...details,
    ...rest,
    ["remove", `agentcli mcp remove ${name}`],
  ];
  return `${name}\n${rows.map(([key, value]) => `  ${key}: ${value}`).join("\n")}\n`;
}

/** Values of variables are often secrets; their names are enough. */
const masked = (values: Record<string, string> | null): string =>
  Object.keys(values ?? {})
    .map((key) => `${key}=*****`)
    .join(", ") || "-";

function table(heads: string[], rows: string[][]): string {
  if (rows.length === 0) return "";
  const widths = heads.map((head, index) => Math.max(head.length, ...rows.map((row) => row[index]?.length ?? 0)));
  const line = (row: string[]) =>
    `${row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd()}\n`;
  return [heads, ...rows].map(line).join("");
}

// `agentcli mcp list`: the configured servers and how we authenticate to them.
import type { McpServer } from "@agentcli/protocol";
import type { Invocation } from "../args.ts";
import { readLoaded } from "../mcp/configured.ts";
import { openCredentials } from "../mcp/credentials.ts";
import { type AuthStatus, listEntry, listText } from "../mcp/describe.ts";
import type { Program } from "../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { config, blockedServers } = await readLoaded(invocation, program);
  const { mcp_servers = {} } = config;
  const names = Object.keys(mcp_servers).sort();
  const entries = await Promise.all(
    names.map(async (name) => {
      const server = mcp_servers[name] ?? {};
      return listEntry(name, server, { blocked: blockedServers[name], auth: await authStatus(name, server, program) });
    }),
  );
  if (invocation.has("json")) await program.print(`${JSON.stringify(entries, null, 2)}\n`);
  else await program.print(entries.length === 0 ? nothing : listText(entries));
  return 0;
}

const nothing = "No MCP servers configured yet. Try `agentcli mcp add my-tool -- my-command`.\n";

async function authStatus(name: string, server: McpServer, { environment }: Program): Promise<AuthStatus> {
  if (server.url === undefined) return "unsupported";
  if (server.bearer_token_env_var !== undefined) return "bearer_token";
  if (server.http_headers_helper !== undefined) return "bearer_token";
  const headers = Object.keys({ ...server.http_headers, ...server.env_http_headers });
  if (headers.some((header) => header.toLowerCase() === "authorization")) return "bearer_token";
  const saved = await openCredentials(environment.agentHome).read(name);
  return saved?.url === server.url ? "o_auth" : "not_logged_in";
}

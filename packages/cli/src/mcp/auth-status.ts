// How we authenticate to a configured server.

import type { Environment } from "@agentcli/host";
import type { McpServer } from "@agentcli/protocol";
import { openCredentials } from "./credentials.ts";
import type { AuthStatus } from "./describe.ts";

export async function authStatus(name: string, server: McpServer, { agentHome }: Environment): Promise<AuthStatus> {
  if (server.url === undefined) return "unsupported";
  if (server.bearer_token_env_var !== undefined) return "bearer_token";
  if (server.http_headers_helper !== undefined) return "bearer_token";
  const headers = Object.keys({ ...server.http_headers, ...server.env_http_headers });
  if (headers.some((header) => header.toLowerCase() === "authorization")) return "bearer_token";
  const saved = await openCredentials(agentHome).read(name);
  return saved?.url === server.url ? "o_auth" : "not_logged_in";
}

// MCP servers that an administrator allows: listed by name, with matching identity.
import type { Config, McpServer, RequiredServer } from "@agentcli/protocol";
import { ConfigError } from "./config-error.ts";

/** One requirements file that lists servers. */
export interface ServerList {
  path: string;
  servers: Record<string, RequiredServer>;
}

export interface AllowedServers {
  servers: Config["mcp_servers"];
  /** Why a server is not used, by name. */
  blocked: Record<string, string>;
}

/** Every list must allow a server. A required server that is not allowed is an error, others are skipped. */
export function allowServers(servers: Config["mcp_servers"], lists: ServerList[]): AllowedServers {
  if (!servers || lists.length === 0) return { servers, blocked: {} };
  const blocked: Record<string, string> = {};
  const judged = Object.entries(servers).map(([name, server]): [string, McpServer] => {
    const list = lists.find(({ servers: allowed }) => !isListed(server, allowed[name]));
    if (!list) return [name, server];
    blocked[name] = `not allowed by mcp_servers in ${list.path}`;
    if (server.required && server.enabled !== false) throw new ConfigError(refusal(name, blocked[name]));
    return [name, { ...server, enabled: false }];
  });
  return { servers: Object.fromEntries(judged), blocked };
}

function isListed({ command, url }: McpServer, allowed: RequiredServer | undefined): boolean {
  if (!allowed?.identity) return false;
  const { command: wantedCommand, url: wantedUrl } = allowed.identity;
  if (wantedCommand === undefined && wantedUrl === undefined) return false;
  return command === wantedCommand && url === wantedUrl;
}

const refusal = (name: string, reason: string): string =>
  `mcp_servers.${name} is required and ${reason}. Remove it, or set required = false to go on without it.`;

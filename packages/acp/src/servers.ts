// MCP servers that the editor brings along, as configuration keys of the thread.

import type { JsonValue } from "@agentcli/protocol/app-server";
import type { McpServer } from "@agentclientprotocol/sdk";

type Table = Record<string, JsonValue>;

/** Null without any. */
export function serverConfig(servers: McpServer[]): Table | null {
  if (servers.length === 0) return null;
  return { mcp_servers: Object.fromEntries(servers.map((server) => [keyOf(server.name), entryOf(server)])) };
}

/** A dot would begin another table. */
const keyOf = (name: string): string => name.replace(/[^\w-]+/g, "_") || "server";

function entryOf(server: McpServer): Table {
  if ("command" in server) {
    const { command, args, env } = server;
    return { command, args, ...(env.length > 0 && { env: pairs(env) }) };
  }
  const { type, url, headers } = server;
  return { type, url, ...(headers.length > 0 && { http_headers: pairs(headers) }) };
}

const pairs = (list: { name: string; value: string }[]): Table =>
  Object.fromEntries(list.map(({ name, value }) => [name, value]));

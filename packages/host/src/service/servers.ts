// The MCP servers of a service's run, as its client describes them.
import type { McpServer } from "@agentcli/protocol";
import type { ServerSource } from "../servers.ts";

export interface ServiceServers extends Pick<ServerSource, "variables" | "sandboxOf" | "lookupFor" | "refuse"> {
  list: [name: string, server: ServiceServer][];
}

export type ServiceServer =
  | { command: string; args?: string[] | undefined; env?: Record<string, string> | undefined; cwd?: string | undefined }
  | { url: string; type?: "http" | "sse" | undefined; headers?: Record<string, string> | undefined };

export async function serviceServerSource(
  { list, ...options }: ServiceServers,
  { cwd, startLimit }: { cwd: string; startLimit: string | undefined },
): Promise<ServerSource> {
  const { noAuthorization } = await import("@agentcli/mcp");
  return {
    ...options,
    servers: list.map(([name, server]) => [name, configOf(server, cwd)]),
    startLimit,
    root: cwd,
    authorize: () => noAuthorization("give its token in headers"),
  };
}

/** No user is present to approve a call; the client added the server in order to use it. */
const configOf = (server: ServiceServer, cwd: string): McpServer => ({
  default_tools_approval_mode: "approve",
  ...("url" in server
    ? { url: server.url, type: server.type, ...(server.headers && { http_headers: server.headers }) }
    : { command: server.command, args: server.args, env: server.env, cwd: server.cwd ?? cwd }),
});

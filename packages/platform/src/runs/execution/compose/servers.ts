// The MCP servers of a run: processes in the workspace, or HTTP servers called from this process, which keeps their headers.
import type { LookupFunction } from "node:net";
import type { ServerSource } from "@agentcli/host";
import type { LookupFor } from "@agentcli/mcp";
import { durationMs } from "@agentcli/project";
import type { McpServer } from "@agentcli/protocol/api";
import { readHost } from "@agentcli/workspace/hosts";
import type { NetworkPolicy } from "../../../foundation/index.ts";

export interface ServersRequest {
  /** Time to start, as configured. */
  limit: string | undefined;
  network: NetworkPolicy;
}

export async function serverSource(
  servers: McpServer[],
  root: string,
  { limit = "30s", network }: ServersRequest,
): Promise<ServerSource> {
  const { noAuthorization } = await import("@agentcli/mcp");
  return {
    servers: servers.map((server) => [server.name, configOf(server, root)]),
    // `off` becomes the longest delay of a timer.
    startLimitMs: durationMs(limit) ?? 2 ** 31 - 1,
    root,
    variables: {},
    authorize: () => noAuthorization("give its token in headers"),
    lookupFor: guarded(network),
  };
}

/** No user is present to approve a call; the owner of the agent added the server in order to use it. */
const configOf = (server: McpServer, root: string) => ({
  default_tools_approval_mode: "approve" as const,
  ...("url" in server
    ? { url: server.url, ...(server.headers && { http_headers: server.headers }) }
    : { command: server.command, args: server.args, env: server.env, cwd: root }),
});

/** The address is checked for each request, and the connection uses exactly the checked address. */
const guarded =
  (network: NetworkPolicy): LookupFor =>
  async ({ hostname, origin }, signal) => {
    const host = readHost(hostname.replace(/^\[|\]$/g, ""));
    if (!host) throw new Error(`${origin} is not a valid address`);
    const resolved = await network.resolve(host, signal);
    if (resolved.kind === "unknown") throw new Error(resolved.reason);
    if (resolved.kind === "private")
      throw new Error(
        `${origin} leads to a private network; an administrator can list it under [network] allow_private`,
      );
    return dialOnly(resolved.addresses);
  };

function dialOnly(addresses: string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  return (_name, options, callback) => {
    const [first] = all;
    if (options.all) callback(null, all);
    else if (first) callback(null, first.address, first.family);
  };
}

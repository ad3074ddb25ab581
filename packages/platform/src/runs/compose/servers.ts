// The MCP servers of a run: processes in the workspace, or asked over HTTP from here, where their headers stay.
import type { LookupFunction } from "node:net";
import type { McpServers, Reach, ServerReport, ServerSettings } from "@agentcli/mcp";
import { durationMs } from "@agentcli/project";
import { sanitize } from "@agentcli/project/sanitize";
import type { Workspace } from "@agentcli/protocol";
import type { McpServer } from "@agentcli/protocol/api";
import { readHost } from "@agentcli/workspace/hosts";
import type { Settings } from "../../config/index.ts";
import type { NetworkPolicy } from "../../network/index.ts";
import { version } from "../../version.ts";

export interface ServersRequest {
  servers: McpServer[];
  root: string;
  settings: Settings;
  network: NetworkPolicy;
  /** For processes of servers, apart from where tools act: what ends there does not end a server. */
  openWorkspace(): Promise<Workspace>;
}

export interface StartedServers {
  servers: McpServers;
  reports: ServerReport[];
}

/** Waits until each is ready, has failed or has used up its time. Null where there are none. */
export async function startServers(request: ServersRequest, signal: AbortSignal): Promise<StartedServers | null> {
  if (request.servers.length === 0) return null;
  const { noAuthorization, openMcpServers, readSettings } = await import("@agentcli/mcp");
  const startLimitMs = durationMs(request.settings.models.limits?.["mcp-start"] ?? "30s") ?? longestLimitMs;
  const read = request.servers.map((server) =>
    readSettings(server.name, configOf(server, request.root), { startLimitMs }),
  );
  const wrong = read.flatMap((each, index) =>
    each.kind === "problem" ? [failed(request.servers[index], each.message)] : [],
  );
  const settings = read.flatMap((each): ServerSettings[] => (each.kind === "settings" ? [each.settings] : []));
  const servers = openMcpServers(settings, {
    client: { name: "platform", version },
    root: request.root,
    variables: {},
    workspaceFor: request.openWorkspace,
    authorize: () => noAuthorization("give its token in headers"),
    reach: guarded(request.network),
    clean: (text) => sanitize(text).text,
  });
  const reports = await Promise.race([servers.started(), stopped(signal)]);
  return { servers, reports: [...wrong, ...reports] };
}

/** `off`, for what must be a number. */
const longestLimitMs = 2 ** 31 - 1;

/** Nobody is there to approve a call; whoever gave the server wants it used. */
const configOf = (server: McpServer, root: string) => ({
  default_tools_approval_mode: "approve" as const,
  ...("url" in server
    ? { url: server.url, ...(server.headers && { http_headers: server.headers }) }
    : { command: server.command, args: server.args, env: server.env, cwd: root }),
});

const failed = (server: McpServer | undefined, reason: string): ServerReport => ({
  name: server?.name ?? "",
  status: "failed",
  reason,
});

const stopped = (signal: AbortSignal): Promise<ServerReport[]> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve([]);
    signal.addEventListener("abort", () => resolve([]), { once: true });
  });

/** An address is checked for each request, and then the very one that was checked is dialled. */
const guarded =
  (network: NetworkPolicy): Reach =>
  async ({ hostname, origin }, signal) => {
    const host = readHost(hostname.replace(/^\[|\]$/g, ""));
    if (!host) throw new Error(`${origin} is no address that can be reached`);
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

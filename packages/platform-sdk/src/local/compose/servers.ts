// The MCP servers of a local run: which there are, whose word counts, and where their processes run.
import { join } from "node:path";
import type { Secret } from "@agentcli/engine";
import {
  type McpServers,
  noAuthorization,
  openMcpServers,
  readSettings,
  type ServerReport,
  type ServerSettings,
} from "@agentcli/mcp";
import { sanitize } from "@agentcli/project/sanitize";
import type { Workspace } from "@agentcli/protocol";
import { ConfigurationError } from "../../errors.ts";
import type { McpServerConfig } from "../../options.ts";
import { version } from "../../version.ts";
import type { Machine } from "../machine.ts";
import type { Wishes } from "../options.ts";
import { readServerFile } from "./server-file.ts";

export interface NamedServer {
  name: string;
  config: McpServerConfig;
  /** Who brought it: what a repository brings is not let out of a sandbox. */
  source: "caller" | "project" | "user";
}

/** By name: what came with the prompt or at creation, then the project's, then the user's. */
export function serversOf(
  inline: Record<string, McpServerConfig>,
  { sources, root, machine }: { sources: Wishes["sources"]; root: string; machine: Machine },
): NamedServer[] {
  const user = sources.has("user") ? readServerFile(join(machine.settingsHome, "mcp.json")) : {};
  const project = sources.has("project") ? readServerFile(join(root, ".platform", "mcp.json")) : {};
  const named = (servers: Record<string, McpServerConfig>, source: NamedServer["source"]) =>
    Object.entries(servers).map(([name, config]): [string, NamedServer] => [name, { name, config, source }]);
  return [...new Map([...named(user, "user"), ...named(project, "project"), ...named(inline, "caller")]).values()];
}

export interface ServersRequest {
  servers: NamedServer[];
  cwd: string;
  machine: Machine;
  /** For processes of servers, apart from where tools act: what ends there does not end a server. */
  workspaceFor(source: NamedServer["source"]): Promise<Workspace>;
}

export interface StartedServers {
  servers: McpServers;
  reports: ServerReport[];
}

const startLimitMs = 30_000;

/** Waits until each is ready, has failed or has used up its time. Null where there are none. */
export async function startServers(request: ServersRequest, signal: AbortSignal): Promise<StartedServers | null> {
  const { servers: wanted, cwd, machine } = request;
  if (wanted.length === 0) return null;
  const settings = wanted.map(({ name, config }): ServerSettings => {
    const read = readSettings(name, settingsFor(config, cwd), { startLimitMs });
    if (read.kind === "settings") return read.settings;
    throw new ConfigurationError(read.message, { code: "invalid_option", operation: "agent.send" });
  });
  const sources = new Map(settings.map(({ transport }, index) => [transport as object, wanted[index]?.source]));
  const servers = openMcpServers(settings, {
    client: { name: "platform-sdk", version },
    root: cwd,
    variables: machine.variables,
    workspaceFor: (transport) => request.workspaceFor(sources.get(transport) ?? "project"),
    authorize: () => noAuthorization("give its token in headers"),
    clean: (text) => sanitize(text).text,
  });
  const reports = await Promise.race([servers.started(), stopped(signal)]);
  return { servers, reports };
}

/** Nobody is there to approve a call; whoever gave the server wants it used. */
const settingsFor = (server: McpServerConfig, cwd: string) => ({
  default_tools_approval_mode: "approve" as const,
  ...("url" in server
    ? { url: server.url, type: server.type, ...(server.headers && { http_headers: server.headers }) }
    : { command: server.command, args: server.args, env: server.env, cwd: server.cwd ?? cwd }),
});

const stopped = (signal: AbortSignal): Promise<ServerReport[]> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve([]);
    signal.addEventListener("abort", () => resolve([]), { once: true });
  });

/** Other headers, such as those that name a format, have values that stand in many texts. */
const isSecretHeader = /auth|token|key|secret|cookie|pass|session|credential/i;
const isSecretName = /key|token|secret|password|passwd|credential/i;

export const secretsOf = (servers: NamedServer[]): Secret[] =>
  servers.flatMap(({ name, config }) => {
    const pairs = Object.entries("url" in config ? (config.headers ?? {}) : (config.env ?? {}));
    const isSecret = "url" in config ? isSecretHeader : isSecretName;
    return pairs
      .filter(([member]) => isSecret.test(member))
      .flatMap(([member, value]) =>
        // Also without the word in front, as in `Bearer …`.
        [value, ...value.split(/\s+/).slice(1)].map((part) => ({ name: `${name}.${member}`, value: part })),
      );
  });

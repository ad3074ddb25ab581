// The MCP servers of a local run: where they come from, and where their processes run.
import { join } from "node:path";
import type { Secret } from "@agentcli/engine";
import type { ServerSource } from "@agentcli/host";
import type { TurnSettings } from "@agentcli/protocol";
import { ConfigurationError } from "../../errors.ts";
import type { McpServerConfig } from "../../options.ts";
import type { Machine } from "../machine.ts";
import type { ResolvedOptions } from "../options.ts";
import { readServerFile } from "./server-file.ts";

export interface NamedServer {
  name: string;
  config: McpServerConfig;
  /** Servers of a repository stay inside the sandbox. */
  source: "caller" | "project" | "user";
}

/** By name: what came with the prompt or at creation, then the project's, then the user's. */
export function serversOf(
  inline: Record<string, McpServerConfig>,
  { sources, root, machine }: { sources: ResolvedOptions["sources"]; root: string; machine: Machine },
): NamedServer[] {
  const user = sources.has("user") ? readServerFile(join(machine.settingsHome, "mcp.json")) : {};
  const project = sources.has("project") ? readServerFile(join(root, ".platform", "mcp.json")) : {};
  const named = (servers: Record<string, McpServerConfig>, source: NamedServer["source"]) =>
    Object.entries(servers).map(([name, config]): [string, NamedServer] => [name, { name, config, source }]);
  return [...new Map([...named(user, "user"), ...named(project, "project"), ...named(inline, "caller")]).values()];
}

/** Servers of a repository run in the sandbox of the run; those of caller and user as the caller's own processes. */
export async function serverSource(
  servers: NamedServer[],
  { cwd, sandbox }: TurnSettings,
  { variables }: Machine,
): Promise<ServerSource> {
  const { noAuthorization } = await import("@agentcli/mcp");
  const sources = new Map(servers.map(({ name, source }) => [name, source]));
  return {
    servers: servers.map(({ name, config }) => [name, settingsFor(config, cwd)]),
    startLimitMs: 30_000,
    root: cwd,
    variables,
    sandboxOf: (name) => ((sources.get(name) ?? "project") === "project" ? sandbox : "danger-full-access"),
    authorize: () => noAuthorization("give its token in headers"),
    refuse: (message) => new ConfigurationError(message, { code: "invalid_option", operation: "agent.send" }),
  };
}

/** No user is there to approve a call; the caller added the server to have it used. */
const settingsFor = (server: McpServerConfig, cwd: string) => ({
  default_tools_approval_mode: "approve" as const,
  ...("url" in server
    ? { url: server.url, type: server.type, ...(server.headers && { http_headers: server.headers }) }
    : { command: server.command, args: server.args, env: server.env, cwd: server.cwd ?? cwd }),
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

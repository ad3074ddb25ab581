// The MCP servers of a local run, by where they come from.
import { join } from "node:path";
import type { Secret } from "@agentcli/engine";
import { headerSecrets, variableSecrets } from "@agentcli/host";
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

export const secretsOf = (servers: NamedServer[]): Secret[] =>
  servers.flatMap(({ name, config }) =>
    "url" in config ? headerSecrets(name, config.headers) : variableSecrets(name, config.env),
  );

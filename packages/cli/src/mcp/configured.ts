// The configured MCP servers, for commands that look after them.
import { CommandError } from "@agentcli/command-line";
import { type LoadedConfig, loadConfig } from "@agentcli/project";
import type { Config, McpServer } from "@agentcli/protocol";
import type { Invocation } from "../command.ts";
import { configRequest, existingDirectory } from "../config/request.ts";
import { configOptions } from "../config/run-options.ts";
import type { Program } from "../program.ts";

export async function readConfigured(invocation: Invocation, program: Program): Promise<Config> {
  return (await readLoaded(invocation, program)).config;
}

export async function readLoaded(invocation: Invocation, { environment }: Program): Promise<LoadedConfig> {
  const options = configOptions(invocation);
  const cwd = existingDirectory(options.directory ?? ".", environment.cwd);
  return loadConfig(configRequest(options, cwd, environment));
}

/** The one argument of a command, as a name that a server can have. */
export function nameOf({ positionals: [name] }: Invocation): string {
  if (name === undefined)
    throw new CommandError("usage", "No server given. Pass its name. To list servers: agentcli mcp list");
  return name;
}

export function serverNamed(name: string, config: Config): McpServer {
  const server = config.mcp_servers?.[name];
  if (server) return server;
  throw new CommandError("failed", notFound(name));
}

export const notFound = (name: string): string => `No MCP server named '${name}' found.`;

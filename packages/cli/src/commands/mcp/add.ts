// `agentcli mcp add`: writes one server into config.toml.
import { CommandError } from "@agentcli/command-line";
import type { McpServer } from "@agentcli/protocol";
import type { Invocation } from "../../command.ts";
import { addServer } from "../../mcp/config-file.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const [name, ...command] = invocation.positionals;
  if (name === undefined || !/^[A-Za-z0-9_-]+$/.test(name)) {
    throw new CommandError(
      "usage",
      `A server's name is made of letters, digits, - and _: agentcli mcp add NAME -- COMMAND`,
    );
  }
  const server =
    invocation.text("url") === undefined ? stdioServer(command, invocation) : httpServer(command, invocation);
  const { readSettings } = await import("@agentcli/mcp");
  const read = readSettings(name, server);
  if (read.kind === "problem") throw new CommandError("usage", read.message);
  await addServer(program.environment.agentHome, name, server);
  await program.print(`Added global MCP server '${name}'.\n`);
  if (server.url !== undefined && server.bearer_token_env_var === undefined) {
    program.reporter.log(`If it requires a login: agentcli mcp login ${name}`);
  }
  return 0;
}

const httpFlags = ["bearer-token-env-var", "oauth-client-id", "oauth-resource"] as const;

function stdioServer([command, ...args]: string[], { list, text }: Invocation): McpServer {
  if (command === undefined) {
    throw new CommandError("usage", "No server given. Pass its command after --, or its address with --url.");
  }
  const flag = httpFlags.find((name) => text(name) !== undefined);
  if (flag) throw new CommandError("usage", `--${flag} can only be used with --url.`);
  const env = Object.fromEntries(list("env").map(readPair));
  return { command, ...(args.length > 0 && { args }), ...(list("env").length > 0 && { env }) };
}

function httpServer(command: string[], { list, text }: Invocation): McpServer {
  if (command.length > 0) throw new CommandError("usage", "Pass either a command or --url, not both.");
  if (list("env").length > 0) throw new CommandError("usage", "--env can only be used with a command.");
  const [token, clientId, resource] = httpFlags.map((name) => text(name));
  return {
    url: text("url"),
    ...(token !== undefined && { bearer_token_env_var: token }),
    ...(clientId !== undefined && { oauth: { client_id: clientId } }),
    ...(resource !== undefined && { oauth_resource: resource }),
  };
}

function readPair(pair: string): [string, string] {
  const equals = pair.indexOf("=");
  if (equals < 1) throw new CommandError("usage", `--env ${pair}: expected NAME=VALUE.`);
  return [pair.slice(0, equals), pair.slice(equals + 1)];
}

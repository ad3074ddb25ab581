// `agentcli mcp remove`: takes one server out of config.toml.
import type { Invocation } from "../../command.ts";
import { removeServer } from "../../mcp/config-file.ts";
import { nameOf, notFound } from "../../mcp/configured.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const name = nameOf(invocation);
  const wasThere = await removeServer(program.environment.agentHome, name);
  await program.print(wasThere ? `Removed global MCP server '${name}'.\n` : `${notFound(name)}\n`);
  return 0;
}

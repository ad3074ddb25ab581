// `agentcli mcp list`: the configured servers and how we authenticate to them.
import type { Invocation } from "../../command.ts";
import { authStatus } from "../../mcp/auth-status.ts";
import { readLoaded } from "../../mcp/configured.ts";
import { listEntry, listText } from "../../mcp/describe.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { config, blockedServers } = await readLoaded(invocation, program);
  const { mcp_servers = {} } = config;
  const names = Object.keys(mcp_servers).sort();
  const entries = await Promise.all(
    names.map(async (name) => {
      const server = mcp_servers[name] ?? {};
      const auth = await authStatus(name, server, program.environment);
      return listEntry(name, server, { blocked: blockedServers[name], auth });
    }),
  );
  if (invocation.has("json")) await program.print(`${JSON.stringify(entries, null, 2)}\n`);
  else await program.print(entries.length === 0 ? nothing : listText(entries));
  return 0;
}

const nothing = "No MCP servers configured yet. Try `agentcli mcp add my-tool -- my-command`.\n";

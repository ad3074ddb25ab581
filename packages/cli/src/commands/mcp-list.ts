// `agentcli mcp list`: the configured servers and how we authenticate to them.
import type { McpServer } from "@agentcli/protocol";
import type { Invocation } from "../args.ts";
import { authStatus } from "../mcp/auth-status.ts";
import { readConfigured } from "../mcp/configured.ts";
import { listEntry, listText } from "../mcp/describe.ts";
import type { Program } from "../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { mcp_servers = {} } = await readConfigured(invocation, program);
  const names = Object.keys(mcp_servers).sort();
  const entries = await Promise.all(names.map((name) => entryOf(name, mcp_servers[name] ?? {}, program)));
  if (invocation.has("json")) await program.print(`${JSON.stringify(entries, null, 2)}\n`);
  else await program.print(entries.length === 0 ? nothing : listText(entries));
  return 0;
}

const nothing = "No MCP servers configured yet. Try `agentcli mcp add my-tool -- my-command`.\n";

const entryOf = async (name: string, server: McpServer, program: Program) =>
  listEntry(name, server, await authStatus(name, server, program.environment));

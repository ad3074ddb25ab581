// `agentcli mcp get`: one configured server.
import type { Invocation } from "../../command.ts";
import { nameOf, readLoaded, serverNamed } from "../../mcp/configured.ts";
import { getEntry, getText } from "../../mcp/describe.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const name = nameOf(invocation);
  const { config, blockedServers } = await readLoaded(invocation, program);
  const server = serverNamed(name, config);
  const extra = { blocked: blockedServers[name] };
  const asJson = () => `${JSON.stringify(getEntry(name, server, extra), null, 2)}\n`;
  await program.print(invocation.has("json") ? asJson() : getText(name, server, extra));
  return 0;
}

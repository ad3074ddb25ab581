// `agentcli mcp get`: one configured server.
import type { Invocation } from "../args.ts";
import { nameOf, readConfigured, serverNamed } from "../mcp/configured.ts";
import { getEntry, getText } from "../mcp/describe.ts";
import type { Program } from "../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const name = nameOf(invocation);
  const server = serverNamed(name, await readConfigured(invocation, program));
  const asJson = () => `${JSON.stringify(getEntry(name, server), null, 2)}\n`;
  await program.print(invocation.has("json") ? asJson() : getText(name, server));
  return 0;
}

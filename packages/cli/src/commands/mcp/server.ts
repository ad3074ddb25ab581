// `agentcli mcp-server`: gone, and says what to use instead.
import { CommandError } from "@agentcli/command-line";

export async function run(): Promise<number> {
  throw new CommandError(
    "usage",
    "agentcli mcp-server was removed. Programs drive the agent with: agentcli app-server",
  );
}

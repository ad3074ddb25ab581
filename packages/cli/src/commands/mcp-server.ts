// `agentcli mcp-server`: gone, and says what to use instead.
import { Problem } from "../problem.ts";

export async function run(): Promise<number> {
  throw new Problem("usage", "agentcli mcp-server was removed. Programs drive the agent with: agentcli app-server");
}

// `agentcli mcp logout`: forgets what a server granted.
import type { Invocation } from "../../command.ts";
import { nameOf } from "../../mcp/configured.ts";
import { openCredentials } from "../../mcp/credentials.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const name = nameOf(invocation);
  const wasThere = await openCredentials(program.environment.agentHome).remove(name);
  await program.print(wasThere ? `Removed the login to '${name}'.\n` : `There is no login to '${name}'.\n`);
  return 0;
}

// `agentcli logout`: forgets the saved login.
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import { removeAuthFile } from "../../credentials/auth-file.ts";
import type { Program } from "../../program.ts";

export async function run(_: Invocation, { environment, reporter }: Program): Promise<number> {
  reporter.log(removeAuthFile(environment.agentHome) === "removed" ? "Successfully logged out" : "Not logged in");
  if (environment.variables.AGENT_API_KEY) reporter.log("AGENT_API_KEY is set in the environment and is still used.");
  return exitCodes.completed.code;
}

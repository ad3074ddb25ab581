// `agentcli login status`: which credential a run would use; exit code 0 when there is one, 1 when there is none.
import { loadConfig } from "@agentcli/project";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import { configRequest } from "../../config/request.ts";
import { configOptions } from "../../config/run-options.ts";
import { currentCredential } from "../../credentials/current.ts";
import { describeCredential } from "../../credentials/describe.ts";
import { unusedKeyHint } from "../../model/provider.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { environment } = program;
  const { config } = await loadConfig(configRequest(configOptions(invocation), environment.cwd, environment));
  const described = describeCredential(await currentCredential(config, program));
  program.reporter.log(described?.sentence ?? "Not logged in");
  const hint = unusedKeyHint(environment.variables).trim();
  if (!described && hint) program.reporter.log(hint);
  return described ? exitCodes.completed.code : exitCodes.failed.code;
}

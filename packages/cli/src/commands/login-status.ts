// `agentcli login status`: which credential a run would use; exit code 0 when there is one, 1 when there is none.

import { findProvider, practice } from "@agentcli/models";
import { loadConfig } from "@agentcli/project";
import type { Config } from "@agentcli/protocol";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../args.ts";
import { configRequest } from "../config-request.ts";
import { describeCredential } from "../credentials/describe.ts";
import { type Credential, findCredential } from "../credentials/find.ts";
import type { Program } from "../program.ts";
import { configOptions } from "../run-options.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { environment } = program;
  const { config } = await loadConfig(configRequest(configOptions(invocation), environment.cwd, environment));
  const described = describeCredential(await currentCredential(config, program));
  program.reporter.say(described?.sentence ?? "Not logged in");
  return described ? exitCodes.completed.code : exitCodes.failed.code;
}

/** Of the configured provider; one that needs no login says nothing about the login of the others. */
async function currentCredential(config: Config, { environment, reporter }: Program): Promise<Credential> {
  const own = config.model_provider ?? "openai";
  const ids = own === practice || own === "openai" ? ["openai"] : [own, "openai"];
  for (const providerId of ids) {
    const provider = findProvider(providerId, config, environment.variables);
    const search = { providerId, provider, auth: config.auth, environment, say: reporter.say };
    const credential = await findCredential(search);
    if (credential.source !== "none") return credential;
  }
  return { source: "none" };
}

// The credential a run here would use.
import { findProvider, practice } from "@agentcli/models";
import type { Config } from "@agentcli/protocol";
import type { Program } from "../program.ts";
import type { Credential } from "./credential.ts";
import { findCredential } from "./find.ts";

/** Of the configured provider; one that needs no login says nothing about the login of the others. */
export async function currentCredential(config: Config, { environment, reporter }: Program): Promise<Credential> {
  const own = config.model_provider ?? "openai";
  const ids = own === practice || own === "openai" ? ["openai"] : [own, "openai"];
  for (const providerId of ids) {
    const provider = findProvider(providerId, config, environment.variables);
    const search = { providerId, provider, auth: config.auth, environment, log: reporter.log };
    const credential = await findCredential(search);
    if (credential.source !== "none") return credential;
  }
  return { source: "none" };
}

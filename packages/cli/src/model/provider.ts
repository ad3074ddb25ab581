// Which server is asked, and with which credentials.
import { CommandError } from "@agentcli/command-line";
import { type Environment, providerTimeouts } from "@agentcli/host";
import { describeProvider, findProvider, type Provider } from "@agentcli/models";
import type { Config } from "@agentcli/protocol";
import type { Credential } from "../credentials/credential.ts";
import { type CredentialSearch, findCredential, keyOf } from "../credentials/find.ts";

/** A provider and the credential it is asked with, before anything is asked. */
export interface Resolved {
  provider: Provider;
  credential: Credential;
}

export async function resolveProvider(
  id: string,
  config: Config,
  environment: Environment,
  log: (line: string) => void,
): Promise<Resolved> {
  const entry = findProvider(id, config, environment.variables);
  const search = { providerId: id, provider: entry, auth: config.auth, environment, log };
  const credential = await findCredential(search);
  if (credential.source === "none") checkNoneNeeded(search);
  const described = describeProvider(id, entry, {
    variables: environment.variables,
    ...providerTimeouts(config.limits),
  });
  return { credential, provider: { ...described, apiKey: keyOf(credential, search) } };
}

function checkNoneNeeded({ providerId, provider }: CredentialSearch): void {
  if (provider.env_key) {
    const hint = provider.env_key_instructions ? ` ${provider.env_key_instructions}` : "";
    throw new CommandError(
      "auth",
      `Missing environment variable: ${provider.env_key} (API key of provider ${providerId}).${hint}`,
    );
  }
  if (provider.requires_openai_auth) throw noCredentials();
}

const noCredentials = (): CommandError =>
  new CommandError(
    "auth",
    `No credentials for a model. Three ways on:
  AGENT_API_KEY=<key> agentcli exec "…"    with an API key (to keep one: agentcli login)
  agentcli exec --oss "…"                  with a local model server (Ollama, LM Studio)
  agentcli exec --model practice "…"       with the built-in practice model: no key, no network`,
  );

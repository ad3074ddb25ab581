// Which server is asked, and with which credentials.
import { CommandError } from "@agentcli/command-line";
import { type Environment, providerTimeouts } from "@agentcli/host";
import { describeProvider, findProvider, type Provider } from "@agentcli/models";
import type { ModelConfig } from "@agentcli/project";
import type { TurnSettings } from "@agentcli/protocol";
import type { Credential } from "../credentials/credential.ts";
import { type CredentialSearch, findCredential, keyOf } from "../credentials/find.ts";
import { modelHint } from "./nearest-model.ts";

/** A provider and the credential it is asked with, before anything is asked. */
export interface Resolved {
  provider: Provider;
  credential: Credential;
}

export async function resolveProvider(
  settings: Pick<TurnSettings, "provider" | "model">,
  config: ModelConfig,
  { environment, log }: { environment: Environment; log(line: string): void },
): Promise<Resolved> {
  const { provider: id } = settings;
  const entry = findProvider(id, config, environment.variables);
  const search = { providerId: id, provider: entry, auth: config.auth, environment, log };
  const credential = await findCredential(search);
  // Only for an error.
  const hint = () => modelHint(settings, config);
  if (credential.source === "none") checkNoneNeeded(search, hint);
  const described = describeProvider(id, entry, {
    variables: environment.variables,
    ...providerTimeouts(config.limits),
  });
  return {
    credential,
    provider: { ...described, modelHint: hint, apiKey: keyOf(credential, search), catalogue: config.catalogue },
  };
}

function checkNoneNeeded({ providerId, provider, environment }: CredentialSearch, findHint: () => string): void {
  if (provider.env_key) {
    const hint = provider.env_key_instructions ? ` ${provider.env_key_instructions}` : "";
    throw new CommandError(
      "auth",
      `Missing environment variable: ${provider.env_key} (API key of provider ${providerId}).${hint}`,
    );
  }
  if (provider.requires_openai_auth) throw noCredentials(findHint(), environment);
}

const noCredentials = (hint: string, { variables }: Environment): CommandError =>
  new CommandError(
    "auth",
    `No credentials for a model.${hint}${unusedKeyHint(variables)} Three ways on:
  AGENT_API_KEY=<key> agentcli exec "…"    with an API key (to keep one: agentcli login)
  agentcli exec --oss "…"                  with a local model server (Ollama, LM Studio)
  agentcli exec --model practice "…"       with the built-in practice model: no key, no network`,
  );

/** Other programs use this variable; here a key is only taken from where the user has put it for this program. */
export const unusedKeyHint = ({ OPENAI_API_KEY: key }: Environment["variables"]): string =>
  key?.trim()
    ? ' OPENAI_API_KEY is set but not used; to use it: AGENT_API_KEY="$OPENAI_API_KEY" agentcli exec "…".'
    : "";

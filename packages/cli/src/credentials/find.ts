// Which credential a provider is asked with: its env_key, AGENT_API_KEY, the saved login, workload identity, in this order.
import { CommandError } from "@agentcli/command-line";
import type { Environment } from "@agentcli/host";
import { type KeySource, keylessProviders } from "@agentcli/models";
import type { Auth, ModelProvider } from "@agentcli/protocol";
import { readAuthFile } from "./auth-file.ts";
import type { Credential } from "./credential.ts";

export interface CredentialSearch {
  providerId: string;
  provider: ModelProvider;
  auth: Auth | undefined;
  environment: Environment;
  log(line: string): void;
}

export async function findCredential(search: CredentialSearch): Promise<Credential> {
  const { providerId, provider, environment } = search;
  const own = provider.env_key ? inVariable("env_key", provider.env_key, environment) : null;
  if (own) return own;
  if (keylessProviders.includes(providerId)) return { source: "none" };
  const general = inVariable("AGENT_API_KEY", "AGENT_API_KEY", environment);
  if (general) return general;
  if (!provider.requires_openai_auth) return { source: "none" };
  return (await savedCredential(search)) ?? federated(search.auth);
}

/** What goes into the requests; whatever has an end is fetched anew before it. */
export function keyOf(credential: Credential, { auth, environment }: CredentialSearch): string | KeySource | undefined {
  switch (credential.source) {
    case "env_key":
    case "AGENT_API_KEY":
    case "saved-key":
      return credential.key;
    case "saved-account": {
      const { tokens } = credential;
      if (!auth?.refresh_endpoint || !tokens.refresh_token) return tokens.access_token;
      return loadedLate(async () => (await import("./account.ts")).accountKey(tokens, auth, environment));
    }
    case "workload-identity":
      return loadedLate(async () =>
        (await import("./workload-identity.ts")).workloadKey(credential.identity, environment),
      );
    case "none":
      return undefined;
  }
}

function inVariable(
  source: "env_key" | "AGENT_API_KEY",
  variable: string,
  { variables }: Environment,
): Credential | null {
  const key = variables[variable]?.trim();
  return key ? { source, variable, key } : null;
}

async function savedCredential({ environment, log }: CredentialSearch): Promise<Credential | null> {
  const saved = await readAuthFile(environment.agentHome);
  if (!saved) return null;
  if (saved.warning) log(saved.warning);
  const { path, content } = saved;
  const { AGENT_API_KEY: key, tokens, auth_mode: mode } = content;
  const isAccount = tokens && (!key || (mode !== undefined && mode !== "api_key"));
  if (isAccount) return { source: "saved-account", path, tokens };
  if (key?.trim()) return { source: "saved-key", path, key: key.trim() };
  throw new CommandError(
    "auth",
    `${path} holds neither a key nor an account. Run agentcli login to sign in again, or agentcli logout to remove the file.`,
  );
}

function federated(auth: Auth | undefined): Credential {
  const identity = auth?.workload_identity;
  if (!identity) return { source: "none" };
  const { token_endpoint, audience } = identity;
  if (!token_endpoint || !audience) {
    throw new CommandError("usage", "auth.workload_identity needs both token_endpoint and audience.");
  }
  return { source: "workload-identity", identity: { ...identity, token_endpoint, audience } };
}

/** A run that ends before its first request has no use for the source. */
function loadedLate(open: () => Promise<KeySource>): KeySource {
  let source: Promise<KeySource> | undefined;
  return async (refused) => {
    source ??= open();
    return (await source)(refused);
  };
}

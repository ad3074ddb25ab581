// Which server is asked, and with which credentials.
import type { Provider } from "@agentcli/models";
import type { Config, LocalProvider, ModelProvider } from "@agentcli/protocol";
import { type Credential, type CredentialSearch, findCredential, keyOf } from "./credentials/find.ts";
import { durationMs } from "./duration.ts";
import type { Environment } from "./environment.ts";
import { Problem } from "./problem.ts";

export const practice = "practice";

/** A provider and the credential it is asked with, before anything is asked. */
export interface Resolved {
  provider: Provider;
  credential: Credential;
}

export async function resolveProvider(
  id: string,
  config: Config,
  environment: Environment,
  say: (line: string) => void,
): Promise<Resolved> {
  const entry = findProvider(id, config, environment.variables);
  const search = { providerId: id, provider: entry, auth: config.auth, environment, say };
  const credential = await findCredential(search);
  if (credential.source === "none") checkNoneNeeded(search);
  return { credential, provider: { ...describe(id, entry, config, environment), apiKey: keyOf(credential, search) } };
}

function describe(id: string, entry: ModelProvider, config: Config, { variables }: Environment): Provider {
  if (!entry.base_url)
    throw new Problem("usage", `Provider ${id} has no base_url. Set model_providers.${id}.base_url.`);
  return {
    id,
    name: entry.name ?? id,
    baseUrl: validUrl(entry.base_url, id),
    wireApi: entry.wire_api ?? "responses",
    headers: { ...entry.http_headers, ...environmentHeaders(entry, variables) },
    query: entry.query_params ?? {},
    requestMaxRetries: entry.request_max_retries ?? 4,
    streamMaxRetries: entry.stream_max_retries ?? 5,
    idleMs: Math.min(entry.stream_idle_timeout_ms ?? Infinity, limit(config.limits?.idle, 120_000)),
    firstByteMs: limit(config.limits?.["first-byte"], 60_000),
    retryBaseMs: entry.retry_base_ms ?? 200,
  };
}

const localPorts: Record<LocalProvider, number> = { ollama: 11434, lmstudio: 1234 };

/** Where a model server on this machine is expected. */
export function localBaseUrl(id: LocalProvider, variables: Environment["variables"]): string {
  if (variables.AGENT_OSS_BASE_URL) return validUrl(variables.AGENT_OSS_BASE_URL, id);
  return `http://localhost:${variables.AGENT_OSS_PORT || localPorts[id]}/v1`;
}

const builtInProviders = (variables: Environment["variables"]): Record<string, ModelProvider> => ({
  openai: { name: "OpenAI", base_url: "https://api.openai.com/v1", requires_openai_auth: true },
  ollama: { name: "Ollama", base_url: localBaseUrl("ollama", variables), wire_api: "chat" },
  lmstudio: { name: "LM Studio", base_url: localBaseUrl("lmstudio", variables), wire_api: "chat" },
});

/** Built-in ids are fixed: a repository cannot quietly send them elsewhere. Only openai's address has a key of its own. */
export function findProvider(id: string, config: Config, variables: Environment["variables"]): ModelProvider {
  const builtIn = builtInProviders(variables);
  if (id === "openai" && config.openai_base_url) return { ...builtIn[id], base_url: config.openai_base_url };
  const entry = builtIn[id] ?? config.model_providers?.[id];
  if (entry) return entry;
  const known = [...Object.keys(builtIn), practice, ...Object.keys(config.model_providers ?? {})];
  throw new Problem(
    "usage",
    `There is no model provider "${id}". Known: ${known.join(", ")}. Add [model_providers.${id}] to config.toml.`,
  );
}

function checkNoneNeeded({ providerId, provider }: CredentialSearch): void {
  if (provider.env_key) {
    const hint = provider.env_key_instructions ? ` ${provider.env_key_instructions}` : "";
    throw new Problem(
      "auth",
      `Missing environment variable: ${provider.env_key} (API key of provider ${providerId}).${hint}`,
    );
  }
  if (provider.requires_openai_auth) throw noCredentials();
}

function environmentHeaders(entry: ModelProvider, variables: Environment["variables"]): Record<string, string> {
  const named = Object.entries(entry.env_http_headers ?? {});
  return Object.fromEntries(named.flatMap(([header, name]) => (variables[name] ? [[header, variables[name]]] : [])));
}

function validUrl(url: string, id: string): string {
  if (/^https?:\/\/[^/]+/.test(url)) return url.replace(/\/+$/, "");
  throw new Problem(
    "usage",
    `The address of provider ${id} is "${url}", which is not an http or https address. Correct its base_url.`,
  );
}

const limit = (text: string | undefined, defaultMs: number): number =>
  text === undefined ? defaultMs : (durationMs(text) ?? Infinity);

const noCredentials = (): Problem =>
  new Problem(
    "auth",
    `No credentials for a model. Three ways on:
  AGENT_API_KEY=<key> agentcli exec "…"    with an API key (to keep one: agentcli login)
  agentcli exec --oss "…"                  with a local model server (Ollama, LM Studio)
  agentcli exec --model practice "…"       with the built-in practice model: no key, no network`,
  );

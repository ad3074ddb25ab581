// Providers from the configuration, and the built-in ones.
import type { Config, LocalProvider, ModelProvider, ModelsFile, PriceConfig, Usage } from "@agentcli/protocol";
import type { ExitName } from "@agentcli/protocol/exit-codes";
import { findPreset, keylessProviders, presetNames, type Variables } from "./presets.ts";
import { costUsd } from "./prices.ts";
import type { Provider } from "./provider.ts";

/** Name of the model without key and network, as a provider and as a model. */
export const practice = "practice";

export class ProviderError extends Error {
  /** Exit code of a program that ends with this error. */
  readonly exit: ExitName = "usage";
  override name = "ProviderError";
}

/** Built-in ids are fixed: a repository cannot redirect them. Only the URL of openai has a configuration key. */
export function findProvider(
  id: string,
  config: Pick<Config, "openai_base_url" | "model_providers">,
  variables: Variables,
): ModelProvider {
  const builtIn = builtInProviders(variables);
  if (id === "openai" && config.openai_base_url) return { ...builtIn[id], base_url: config.openai_base_url };
  const own = config.model_providers?.[id];
  const preset = findPreset(id, own, variables);
  if (preset?.kind === "missing") throw new ProviderError(preset.message);
  const entry = builtIn[id] ?? preset?.entry ?? own;
  if (entry) return entry;
  const ids = new Set([
    ...Object.keys(builtIn),
    ...presetNames,
    practice,
    ...Object.keys(config.model_providers ?? {}),
  ]);
  throw new ProviderError(
    `Unknown model provider "${id}". Available: ${[...ids].join(", ")}. Add [model_providers.${id}] to config.toml.`,
  );
}

export interface ModelLocation {
  model: string;
  provider: string;
}

/** `PROVIDER/MODEL` is a model of another provider than the default one. */
export function locateModel(
  id: string,
  { model_provider = "openai", model_providers = {} }: Pick<Config, "model_provider" | "model_providers">,
): ModelLocation {
  const [provider = "", ...rest] = id.split("/");
  const isProvider =
    Object.hasOwn(model_providers, provider) ||
    prefixes.includes(provider) ||
    (provider === "openai" && withoutVendors.includes(model_provider));
  if (rest.length > 0 && isProvider) return { model: rest.join("/"), provider };
  return { model: id, provider: id === practice ? practice : model_provider };
}

const prefixes = [...presetNames, ...keylessProviders];

/** Names of their models do not begin with a vendor; gateways have models that are called `openai/gpt-5`. */
const withoutVendors = ["anthropic", "azure", "google", "mistral", "deepseek", "xai", "bedrock", "vertex"];

/** Upper limits of the timeouts of every provider; Infinity for none. */
export interface ProviderTimeouts {
  idleMs: number;
  firstByteMs: number;
}

/** A provider without its key. */
export function describeProvider(
  id: string,
  entry: ModelProvider,
  { variables, idleMs, firstByteMs }: ProviderTimeouts & { variables: Variables },
): Provider {
  if (!entry.base_url) throw new ProviderError(`Provider ${id} has no base_url. Set model_providers.${id}.base_url.`);
  return {
    id,
    name: entry.name ?? id,
    baseUrl: validUrl(entry.base_url, id),
    wireApi: entry.wire_api ?? "responses",
    headers: { ...entry.http_headers, ...environmentHeaders(entry, variables) },
    query: entry.query_params ?? {},
    keyHeader: entry.key_header,
    keyVariable: entry.env_key,
    ...endpointOf(id, entry, variables),
    requestMaxRetries: entry.request_max_retries ?? 4,
    streamMaxRetries: entry.stream_max_retries ?? 5,
    idleMs: Math.min(entry.stream_idle_timeout_ms ?? Infinity, idleMs),
    firstByteMs,
    retryBaseMs: entry.retry_base_ms ?? 200,
  };
}

function endpointOf(
  id: string,
  { endpoint, base_url = "" }: ModelProvider,
  variables: Variables,
): Pick<Provider, "endpoint"> {
  if (endpoint !== "bedrock") return endpoint === undefined ? {} : { endpoint: { kind: endpoint } };
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SESSION_TOKEN: sessionToken } = variables;
  if (!accessKeyId)
    throw new ProviderError(`Provider ${id} needs AWS_ACCESS_KEY_ID beside AWS_SECRET_ACCESS_KEY. Set it.`);
  const [, named] = /^https:\/\/bedrock-runtime\.([a-z0-9-]+)\./.exec(base_url) ?? [];
  const region = named ?? variables.AWS_REGION ?? variables.AWS_DEFAULT_REGION ?? "us-east-1";
  return { endpoint: { kind: "bedrock", region, accessKeyId, sessionToken: sessionToken || undefined } };
}

const localPorts: Record<LocalProvider, number> = { ollama: 11434, lmstudio: 1234 };

/** The URL of a model server on this machine. */
export function localBaseUrl(id: LocalProvider, variables: Variables): string {
  if (variables.AGENT_OSS_BASE_URL) return validUrl(variables.AGENT_OSS_BASE_URL, id);
  return `http://localhost:${variables.AGENT_OSS_PORT || localPorts[id]}/v1`;
}

const builtInProviders = (variables: Variables): Record<string, ModelProvider> => ({
  openai: { name: "OpenAI", base_url: "https://api.openai.com/v1", requires_openai_auth: true },
  ollama: { name: "Ollama", base_url: localBaseUrl("ollama", variables), wire_api: "chat" },
  lmstudio: { name: "LM Studio", base_url: localBaseUrl("lmstudio", variables), wire_api: "chat" },
});

function environmentHeaders(entry: ModelProvider, variables: Variables): Record<string, string> {
  const named = Object.entries(entry.env_http_headers ?? {});
  return Object.fromEntries(named.flatMap(([header, name]) => (variables[name] ? [[header, variables[name]]] : [])));
}

function validUrl(url: string, id: string): string {
  if (/^https?:\/\/[^/]+/.test(url)) return url.replace(/\/+$/, "");
  throw new ProviderError(
    `The address of provider ${id} is "${url}", which is not an http or https address. Correct its base_url.`,
  );
}

/** The cost of a request: configured prices override those of `models`, and both the built-in ones. */
export function priceBook(
  own: Record<string, PriceConfig> = {},
  models?: ModelsFile,
): (model: string, usage: Usage) => number | null {
  return (model, usage) => {
    const { input, output, cached_input: cachedInput = input } = own[model] ?? {};
    if (input === undefined || output === undefined || cachedInput === undefined) return costUsd(model, usage, models);
    const fresh = (usage.inputTokens - usage.cachedInputTokens) * input;
    return (fresh + usage.cachedInputTokens * cachedInput + usage.outputTokens * output) / 1_000_000;
  };
}

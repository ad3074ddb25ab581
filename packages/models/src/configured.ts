// Providers as they are written in a configuration, and those everybody has.
import type { Config, LocalProvider, ModelProvider, PriceConfig, Usage } from "@agentcli/protocol";
import { costUsd } from "./prices.ts";
import type { Provider } from "./provider.ts";

/** The model that needs no key and no network; as a provider and as a model. */
export const practice = "practice";

type Variables = Record<string, string | undefined>;

export class ProviderProblem extends Error {
  override name = "ProviderProblem";
}

/** Built-in ids are fixed: a repository cannot quietly send them elsewhere. Only openai's address has a key of its own. */
export function findProvider(
  id: string,
  config: Pick<Config, "openai_base_url" | "model_providers">,
  variables: Variables,
): ModelProvider {
  const builtIn = builtInProviders(variables);
  if (id === "openai" && config.openai_base_url) return { ...builtIn[id], base_url: config.openai_base_url };
  const entry = builtIn[id] ?? config.model_providers?.[id];
  if (entry) return entry;
  const known = [...Object.keys(builtIn), practice, ...Object.keys(config.model_providers ?? {})];
  throw new ProviderProblem(
    `There is no model provider "${id}". Known: ${known.join(", ")}. Add [model_providers.${id}] to config.toml.`,
  );
}

/** The longest waits that hold for every provider; Infinity for none. */
export interface Patience {
  idleMs: number;
  firstByteMs: number;
}

/** All of a provider but its key. */
export function describeProvider(
  id: string,
  entry: ModelProvider,
  { variables, idleMs, firstByteMs }: Patience & { variables: Variables },
): Provider {
  if (!entry.base_url) throw new ProviderProblem(`Provider ${id} has no base_url. Set model_providers.${id}.base_url.`);
  return {
    id,
    name: entry.name ?? id,
    baseUrl: validUrl(entry.base_url, id),
    wireApi: entry.wire_api ?? "responses",
    headers: { ...entry.http_headers, ...environmentHeaders(entry, variables) },
    query: entry.query_params ?? {},
    requestMaxRetries: entry.request_max_retries ?? 4,
    streamMaxRetries: entry.stream_max_retries ?? 5,
    idleMs: Math.min(entry.stream_idle_timeout_ms ?? Infinity, idleMs),
    firstByteMs,
    retryBaseMs: entry.retry_base_ms ?? 200,
  };
}

const localPorts: Record<LocalProvider, number> = { ollama: 11434, lmstudio: 1234 };

/** Where a model server on this machine is expected. */
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
  throw new ProviderProblem(
    `The address of provider ${id} is "${url}", which is not an http or https address. Correct its base_url.`,
  );
}

/** What a request costs: the prices of the configuration over the built-in price book. */
export function priceBook(own: Record<string, PriceConfig> = {}): (model: string, usage: Usage) => number | null {
  return (model, usage) => {
    const { input, output, cached_input: cachedInput = input } = own[model] ?? {};
    if (input === undefined || output === undefined || cachedInput === undefined) return costUsd(model, usage);
    const fresh = (usage.inputTokens - usage.cachedInputTokens) * input;
    return (fresh + usage.cachedInputTokens * cachedInput + usage.outputTokens * output) / 1_000_000;
  };
}

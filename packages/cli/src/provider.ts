// Which server is asked, and with which credentials.
import type { Provider } from "@agentcli/models";
import type { Config, ModelProvider } from "@agentcli/protocol";
import { durationMs } from "./duration.ts";
import type { Environment } from "./environment.ts";
import { Problem } from "./problem.ts";

const builtInProviders: Record<string, ModelProvider> = {
  openai: { name: "OpenAI", base_url: "https://api.openai.com/v1", requires_openai_auth: true },
  ollama: { name: "Ollama", base_url: "http://localhost:11434/v1", wire_api: "chat" },
  lmstudio: { name: "LM Studio", base_url: "http://localhost:1234/v1", wire_api: "chat" },
};

export const practice = "practice";

export function resolveProvider(id: string, config: Config, { variables }: Environment): Provider {
  const entry = findProvider(id, config);
  if (!entry.base_url)
    throw new Problem("usage", `Provider ${id} has no base_url. Set model_providers.${id}.base_url.`);
  return {
    id,
    name: entry.name ?? id,
    baseUrl: validUrl(entry.base_url, id),
    wireApi: entry.wire_api ?? "responses",
    headers: { ...entry.http_headers, ...environmentHeaders(entry, variables) },
    query: entry.query_params ?? {},
    apiKey: findKey(id, entry, variables),
    requestMaxRetries: entry.request_max_retries ?? 4,
    streamMaxRetries: entry.stream_max_retries ?? 5,
    idleMs: Math.min(entry.stream_idle_timeout_ms ?? Infinity, limit(config.limits?.idle, 120_000)),
    firstByteMs: limit(config.limits?.["first-byte"], 60_000),
    retryBaseMs: entry.retry_base_ms ?? 200,
  };
}

/** Built-in ids are fixed: a repository cannot quietly send them elsewhere. Only openai's address has a key of its own. */
function findProvider(id: string, config: Config): ModelProvider {
  const builtIn = builtInProviders[id];
  if (id === "openai" && config.openai_base_url) return { ...builtIn, base_url: config.openai_base_url };
  const entry = builtIn ?? config.model_providers?.[id];
  if (entry) return entry;
  const known = [...Object.keys(builtInProviders), practice, ...Object.keys(config.model_providers ?? {})];
  throw new Problem(
    "usage",
    `There is no model provider "${id}". Known: ${known.join(", ")}. Add [model_providers.${id}] to config.toml.`,
  );
}

function findKey(id: string, entry: ModelProvider, variables: Environment["variables"]): string | undefined {
  const key = (entry.env_key && variables[entry.env_key]) || variables.AGENT_API_KEY;
  if (key?.trim()) return key.trim();
  if (entry.env_key) {
    const hint = entry.env_key_instructions ? ` ${entry.env_key_instructions}` : "";
    throw new Problem("auth", `Missing environment variable: ${entry.env_key} (API key of provider ${id}).${hint}`);
  }
  if (entry.requires_openai_auth) throw noCredentials();
  return undefined;
}

/** Where the key of a provider would come from; never the key. */
export type Credential =
  | { kind: "found"; source: string }
  | { kind: "unneeded"; reason: string }
  | { kind: "missing"; reason: string; mend: string };

export function describeCredential(id: string, config: Config, { variables }: Environment): Credential {
  if (id === practice) return { kind: "unneeded", reason: "the practice model needs none" };
  const { env_key, env_key_instructions, requires_openai_auth } = findProvider(id, config);
  const source = [env_key, "AGENT_API_KEY"].find((name) => name && variables[name]?.trim());
  if (source) return { kind: "found", source: `the environment variable ${source}` };
  if (env_key) {
    const mend = env_key_instructions ?? `set ${env_key} to the API key of ${id}`;
    return { kind: "missing", reason: `the environment variable ${env_key} is not set`, mend };
  }
  if (!requires_openai_auth) return { kind: "unneeded", reason: `${id} is asked without one` };
  return { kind: "missing", reason: `${id} needs an API key`, mend: "set AGENT_API_KEY, or use --model practice" };
}

function environmentHeaders(entry: ModelProvider, variables: Environment["variables"]): Record<string, string> {
  const named = Object.entries(entry.env_http_headers ?? {});
  return Object.fromEntries(named.flatMap(([header, name]) => (variables[name] ? [[header, variables[name]]] : [])));
}

function validUrl(url: string, id: string): string {
  if (/^https?:\/\/[^/]+/.test(url)) return url.replace(/\/+$/, "");
  throw new Problem("usage", `model_providers.${id}.base_url is "${url}", which is not an http or https address.`);
}

const limit = (text: string | undefined, defaultMs: number): number =>
  text === undefined ? defaultMs : (durationMs(text) ?? Infinity);

const noCredentials = (): Problem =>
  new Problem(
    "auth",
    `No credentials for a model. Three ways on:
  AGENT_API_KEY=<key> agentcli exec "…"    with an API key
  agentcli exec --oss "…"                  with a local model server (Ollama, LM Studio)
  agentcli exec --model practice "…"       with the built-in practice model: no key, no network`,
  );

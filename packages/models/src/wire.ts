// Shared by all wires: URL, headers, attempts.
import type { Model, ModelProgress, ModelRequest } from "@agentcli/engine";
import { attempt, type StreamReader } from "./attempt.ts";
import { type ModelFacts, modelFacts } from "./catalog.ts";
import { openEndpoint } from "./endpoints/open.ts";
import { withKey } from "./key.ts";
import { continuePaused } from "./paused.ts";
import type { Client, Provider } from "./provider.ts";
import { delay, withRetries } from "./retry.ts";

/** One protocol of model servers, as a value. */
export interface Wire {
  /** Below the base URL of the provider. */
  path: string;
  /** The header with the key, unless the provider has another one. */
  keyHeader: string;
  headers: Record<string, string>;
  load(): Promise<WireFormat>;
}

export interface WireFormat {
  /** With what the server has written of a reply that it paused. */
  body(request: ModelRequest, facts: ModelFacts, paused?: object[]): object;
  reader(context: ReplyContext): StreamReader;
}

export interface ReplyContext {
  serverName: string;
  request: ModelRequest;
  onProgress: (progress: ModelProgress) => void;
}

export function openWire(wire: Wire, provider: Provider, client: Client): Model {
  const plainUrl = addressOf(provider, wire.path);
  const { requestMaxRetries, streamMaxRetries, retryBaseMs } = provider;
  const plan = {
    requestMaxRetries,
    streamMaxRetries,
    retryBaseMs,
    random: client.random,
    delay: client.delay ?? delay,
  };
  return {
    async reply(request, onProgress, signal) {
      const format = await wire.load();
      const endpoint = provider.endpoint && (await openEndpoint(provider));
      const url = endpoint ? addressOf(provider, endpoint.path(request.model)) : plainUrl;
      const headers = { ...wire.headers, ...headersOf(provider, client, request) };
      const facts = modelFacts(request.model, provider.wireApi, provider.catalogue);
      const ask = (paused?: object[]) => {
        const content = format.body(request, facts, paused);
        const body = JSON.stringify(endpoint?.body?.(content) ?? content);
        const attemptWith = (key: string | undefined) => {
          const reader = format.reader({ serverName: provider.name, request, onProgress });
          const signed = endpoint?.sign?.({ url, headers, body, key }) ?? {
            ...keyHeader(provider.keyHeader ?? wire.keyHeader, key),
            ...headers,
          };
          const { model } = request;
          return attempt(
            { provider, key, url, headers: signed, body, reader, model, events: endpoint?.events },
            signal,
          );
        };
        return withRetries(plan, () => withKey(provider, attemptWith, signal), onProgress, signal);
      };
      return continuePaused(ask);
    },
  };
}

export function addressOf(provider: Provider, path: string): URL {
  const address = `${provider.baseUrl.replace(/\/+$/, "")}/${path}`;
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) {
    throw new Error(`base_url of provider ${provider.id} is not an http or https URL: ${provider.baseUrl}`);
  }
  const url = new URL(address);
  for (const [name, value] of Object.entries(provider.query)) url.searchParams.set(name, value);
  return url;
}

function headersOf(provider: Provider, client: Client, request: ModelRequest): Record<string, string> {
  return {
    accept: "text/event-stream",
    "content-type": "application/json",
    "session-id": request.cacheKey,
    "thread-id": request.cacheKey,
    ...clientHeaders(provider, client),
  };
}

export const clientHeaders = (provider: Provider, client: Client): Record<string, string> => ({
  originator: client.originator ?? "agent_exec",
  "user-agent": `${client.clientName}/${client.clientVersion} (${process.platform}; ${process.arch})`,
  ...lowerCased(provider.headers),
});

export function keyHeader(name: string, key: string | undefined): Record<string, string> {
  if (key === undefined) return {};
  return { [name.toLowerCase()]: name.toLowerCase() === "authorization" ? `Bearer ${key}` : key };
}

// Same case, so that a configured header replaces the default one.
const lowerCased = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

// Shared by all wires: URL, headers, attempts.
import type { Model, ModelProgress, ModelRequest } from "@agentcli/engine";
import { addressOf, clientHeaders, keyHeader, type WireHeaders } from "./addressing.ts";
import { attempt, type StreamReader } from "./attempt.ts";
import { type ModelFacts, modelFacts } from "./catalog.ts";
import { openEndpoint } from "./endpoints/open.ts";
import { withKey } from "./key.ts";
import { continuePaused } from "./paused.ts";
import type { Client, Provider } from "./provider.ts";
import { delay, withRetries } from "./retry.ts";

/** One protocol of model servers, as a value. */
export interface Wire extends WireHeaders {
  /** Below the base URL of the provider. */
  path: string;
  load(): Promise<WireFormat>;
}

export interface WireFormat {
  /** With what the server has written of a reply that it paused. */
  body(request: ModelRequest, facts: ModelFacts, paused?: object[]): object;
  reader(context: ReplyContext): StreamReader;
  /** How a server is asked for the tokens of a request; absent: it is not. */
  count?: TokenCount;
}

export interface TokenCount {
  path: string;
  body(request: ModelRequest, facts: ModelFacts): object;
  /** In the answer of the server. */
  read(answer: unknown): number | null;
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
    async countTokens(request, signal) {
      const { count } = await wire.load();
      // Services that offer models of others sign or translate what is sent to them.
      if (!count || provider.endpoint) return null;
      const { requestJson } = await import("./json-request.ts");
      const facts = modelFacts(request.model, provider.wireApi, provider.catalogue);
      const body = JSON.stringify(count.body(request, facts));
      const answer = await requestJson(
        { provider, client, wire },
        { url: addressOf(provider, count.path), body },
        signal,
      );
      return answer.kind === "answered" ? count.read(answer.value) : null;
    },
  };
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

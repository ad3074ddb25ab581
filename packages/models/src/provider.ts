// A model provider as a value: its URL, wire API, timeouts and retries.
import type { ModelsFile, WireApi } from "@agentcli/protocol";

export interface Provider {
  id: string;
  /** Shown to users. */
  name: string;
  /** Requests go to baseUrl/responses, baseUrl/chat/completions or baseUrl/messages. */
  baseUrl: string;
  wireApi: WireApi;
  headers: Record<string, string>;
  query: Record<string, string>;
  apiKey?: string | KeySource;
  /** The header that has the key; absent: as the wire does it. */
  keyHeader?: string | undefined;
  /** The variable that holds the key, for messages. */
  keyVariable?: string | undefined;
  /** A service that offers the models of others in its own way. */
  endpoint?: { kind: "azure" } | { kind: "vertex" } | ({ kind: "bedrock" } & AwsIdentity);
  /** Advice where the provider does not know the model: a sentence after a space, or nothing. */
  modelHint?(): string;
  /** What the user says of models, over what the catalogue says. */
  catalogue?: ModelsFile | undefined;
  requestMaxRetries: number;
  streamMaxRetries: number;
  /** Timeout between complete events of a response; Infinity for none. */
  idleMs: number;
  /** Timeout for the start of a response; Infinity for none. */
  firstByteMs: number;
  /** Delay before the first retry, doubled each time. */
  retryBaseMs: number;
}

/** Who signs requests to AWS; the secret part is the key of the provider. */
export interface AwsIdentity {
  region: string;
  accessKeyId: string;
  sessionToken: string | undefined;
}

/**
 * A key that expires, fetched before every attempt. Called with a refused key, it returns another one if it can.
 * Messages of its errors are shown to users: they must not contain secrets.
 */
export type KeySource = (refused?: string) => Promise<string>;

/** The name of the client, and randomness and delays, which tests replace. */
export interface Client {
  clientName: string;
  clientVersion: string;
  /** The program that drives this one, if any. */
  originator?: string | undefined;
  /** Uniform in [0, 1). */
  random: () => number;
  delay?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export const providerDefaults = {
  headers: {},
  query: {},
  requestMaxRetries: 4,
  streamMaxRetries: 5,
  idleMs: 120_000,
  firstByteMs: 60_000,
  retryBaseMs: 200,
} as const satisfies Partial<Provider>;

// A model provider as a value: where it is, what it speaks, how patient to be with it.
import type { WireApi } from "@agentcli/protocol";

export interface Provider {
  id: string;
  /** Shown to people. */
  name: string;
  /** Requests go to baseUrl/responses or baseUrl/chat/completions. */
  baseUrl: string;
  wireApi: WireApi;
  headers: Record<string, string>;
  query: Record<string, string>;
  apiKey?: string | KeySource;
  requestMaxRetries: number;
  streamMaxRetries: number;
  /** Longest silence within an answer; Infinity for none. */
  idleMs: number;
  /** Longest wait for an answer to begin; Infinity for none. */
  firstByteMs: number;
  /** First wait between retries, doubled each time. */
  retryBaseMs: number;
}

/**
 * A key with an end, asked for before every try. Given one that was refused, it hands out another where it can.
 * What it throws is told to people as it is: no secret may be in it.
 */
export type KeySource = (refused?: string) => Promise<string>;

/** Who asks, and what a program brings along so that tests can hold it still. */
export interface Client {
  clientName: string;
  clientVersion: string;
  /** What drives the program, when it is not used as it is. */
  originator?: string | undefined;
  /** Evenly spread over [0, 1). */
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

// Authorization of HTTP requests to a server.

import type { HttpTransport } from "../settings.ts";
import type { Variables } from "./environment.ts";

/** A response that requires (other) credentials. */
export interface Challenge {
  status: number;
  /** Its WWW-Authenticate header. */
  header: string;
}

export interface Authorization {
  /** Headers of the next request. Rejects with a message for people if there are none. */
  headers(): Promise<Record<string, string>>;
  /** Gets new or wider credentials. False if the same request would be refused again. */
  renew(challenge: Challenge, signal: AbortSignal): Promise<boolean>;
  /** What the user must do about a refusal, as the end of a sentence. */
  advice: string;
}

export const noAuthorization = (advice: string): Authorization => ({
  headers: async () => ({}),
  renew: async () => false,
  advice,
});

export const bearerToken = (variable: string, token: string): Authorization => ({
  headers: async () => ({ authorization: `Bearer ${token}` }),
  renew: async () => false,
  advice: `set ${variable} to a valid token`,
});

/** Headers printed by the user's helper program: run once, and again when the server refuses them. */
export function helperHeaders(runHelper: () => Promise<Record<string, string>>): Authorization {
  let cached: Promise<Record<string, string>> | null = null;
  return {
    async headers() {
      cached ??= runHelper();
      return cached;
    },
    async renew() {
      const before = JSON.stringify(await cached);
      cached = runHelper();
      return JSON.stringify(await cached) !== before;
    },
    advice: "check what its http_cachedhelper prints",
  };
}

export type ConfiguredHeaders =
  | { kind: "headers"; headers: Record<string, string> }
  | { kind: "problem"; message: string };

/** Headers from the configuration, including those whose values are in the environment. */
export function configuredHeaders({ headers, envHeaders }: HttpTransport, variables: Variables): ConfiguredHeaders {
  const missing = Object.entries(envHeaders).find(([, variable]) => !variables[variable]);
  if (missing) {
    return {
      kind: "problem",
      message: `the environment variable ${missing[1]}, which holds its header ${missing[0]}, is not set`,
    };
  }
  const read = Object.entries(envHeaders).map(([header, variable]) => [header, variables[variable] ?? ""]);
  return { kind: "headers", headers: { ...headers, ...Object.fromEntries(read) } };
}

// How requests to a server over HTTP show who sends them.
import type { Variables } from "./environment.ts";
import type { HttpTransport } from "./settings.ts";

/** What a server said when it wanted to know, or wanted more. */
export interface Challenge {
  status: number;
  /** Its WWW-Authenticate header. */
  header: string;
}

export interface Authorization {
  /** Headers of the next request. Rejects, with a message for people, where they cannot be had. */
  headers(): Promise<Record<string, string>>;
  /** Gets new or wider credentials where it can; false where the same request would only be refused again. */
  renew(challenge: Challenge, signal: AbortSignal): Promise<boolean>;
  /** What the user has to do about a refusal, as the end of a sentence. */
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
  advice: `put a token that it accepts into ${variable}`,
});

/** Headers that a program of the user prints: asked once, and again when the server refuses them. */
export function helpedHeaders(ask: () => Promise<Record<string, string>>): Authorization {
  let known: Promise<Record<string, string>> | null = null;
  return {
    async headers() {
      known ??= ask();
      return known;
    },
    async renew() {
      const before = JSON.stringify(await known);
      known = ask();
      return JSON.stringify(await known) !== before;
    },
    advice: "check what its http_headers_helper prints",
  };
}

export type FixedHeaders = { kind: "headers"; headers: Record<string, string> } | { kind: "problem"; message: string };

/** Headers of the configuration, with those whose values are in the environment. */
export function fixedHeaders({ headers, envHeaders }: HttpTransport, variables: Variables): FixedHeaders {
  const missing = Object.entries(envHeaders).find(([, variable]) => !variables[variable]);
  if (missing) {
    return {
      kind: "problem",
      message: `the variable ${missing[1]}, which its header ${missing[0]} is read from, is not set`,
    };
  }
  const read = Object.entries(envHeaders).map(([header, variable]) => [header, variables[variable] ?? ""]);
  return { kind: "headers", headers: { ...headers, ...Object.fromEntries(read) } };
}

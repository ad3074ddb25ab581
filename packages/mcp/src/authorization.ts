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
  /** The value of the Authorization header for the next request; null where there is none. */
  header(): Promise<string | null>;
  /** Gets new or wider credentials where it can; false where the same request would only be refused again. */
  renew(challenge: Challenge, signal: AbortSignal): Promise<boolean>;
  /** What the user has to do about a refusal, as the end of a sentence. */
  advice: string;
}

export const noAuthorization = (advice: string): Authorization => ({
  header: async () => null,
  renew: async () => false,
  advice,
});

export const bearerToken = (variable: string, token: string): Authorization => ({
  header: async () => `Bearer ${token}`,
  renew: async () => false,
  advice: `put a token that it accepts into ${variable}`,
});

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

// Describes the credential in use for the user, without the secret.
import type { Credential } from "./credential.ts";
import { maskSecret } from "./mask.ts";
import { jwtExpiryMs } from "./token.ts";

export interface CredentialDescription {
  /** Where it comes from. */
  source: string;
  /** Masked, or what is known about it. */
  shown: string;
  /** As `login status` says it. */
  sentence: string;
}

/** Null where there is none. */
export function describeCredential(credential: Credential): CredentialDescription | null {
  switch (credential.source) {
    case "env_key":
    case "AGENT_API_KEY":
      return describeKey(`environment variable ${credential.variable}`, credential.key, ` from ${credential.variable}`);
    case "saved-key":
      return describeKey(credential.path, credential.key, "");
    case "saved-account": {
      const shown = `access token ${lifetime(credential.tokens.access_token)}`;
      return { source: credential.path, shown, sentence: `Logged in using a managed account - ${shown}` };
    }
    case "workload-identity": {
      const { token_endpoint: endpoint, audience } = credential.identity;
      const shown = `exchanged at ${endpoint} for ${audience}`;
      return { source: "workload identity", shown, sentence: `Logged in using workload identity - ${shown}` };
    }
    case "none":
      return null;
  }
}

function describeKey(source: string, key: string, origin: string): CredentialDescription {
  const shown = maskSecret(key);
  return { source, shown, sentence: `Logged in using an API key${origin} - ${shown}` };
}

function lifetime(token: string): string {
  const expiresAtMs = jwtExpiryMs(token);
  if (expiresAtMs === null) return "without a known expiry";
  return `valid until ${new Date(expiresAtMs).toISOString()}`;
}

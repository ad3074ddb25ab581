// The result of a login, and its store.
import type { OAuthClientInformationMixed, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";

export interface Credentials {
  /** The server they are for: a server with another URL does not get them. */
  url: string;
  client: OAuthClientInformationMixed;
  tokens: OAuthTokens;
}

export interface CredentialStore {
  read(server: string): Promise<Credentials | null>;
  /** Atomic, and not readable by other users. */
  write(server: string, credentials: Credentials): Promise<void>;
  /** Whether there was something to remove. */
  remove(server: string): Promise<boolean>;
}

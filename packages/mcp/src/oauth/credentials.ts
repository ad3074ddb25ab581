// What a login leaves behind, and where it is kept.
import type { OAuthClientInformationMixed, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";

export interface Credentials {
  /** The server they are for: one that has moved gets none. */
  url: string;
  client: OAuthClientInformationMixed;
  tokens: OAuthTokens;
}

export interface CredentialStore {
  read(server: string): Promise<Credentials | null>;
  /** Other processes never see half of it, and other users nothing. */
  write(server: string, credentials: Credentials): Promise<void>;
  /** Tells whether there was something to remove. */
  remove(server: string): Promise<boolean>;
}

// The SDK's OAuth client provider: client metadata, stored tokens, and the redirect to the user.

import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import type { OAuthClientInformationMixed } from "@modelcontextprotocol/sdk/shared/auth.js";
import type { HttpTransport } from "../settings.ts";
import type { Challenge } from "../transport/index.ts";
import type { Credentials } from "./credentials.ts";

/** The user at a browser. */
export interface ConsentFlow {
  /** Where the browser is redirected. */
  redirectUrl: string;
  /** Comes back with the redirect, so that a redirect of another login is not accepted. */
  state: string;
  /** Shows the URL and settles with the authorization code. */
  ask(url: URL, signal: AbortSignal): Promise<string>;
}

/** A client registered by hand. */
export interface RegisteredClient {
  client_id: string;
  client_secret?: string;
}

export interface ProviderOptions {
  transport: HttpTransport;
  clientName: string;
  clientMetadataUrl?: string;
  consent: ConsentFlow | null;
  registered?: RegisteredClient;
  used: Credentials | null;
  keep(credentials: Credentials): Promise<void>;
}

export interface Provider extends OAuthClientProvider {
  /** Sends the user to the authorization URL and waits for the code. */
  code(signal: AbortSignal): Promise<string>;
}

/** Never visited: without a user the login ends before the redirect. */
const placeholderRedirectUrl = "http://127.0.0.1/callback";

export function openProvider(options: ProviderOptions, { status }: Challenge): Provider {
  const { transport, consent, used, keep } = options;
  const { resource } = transport.login;
  const redirectUrl = consent?.redirectUrl ?? placeholderRedirectUrl;
  let client: OAuthClientInformationMixed | undefined = registeredClient(options) ?? used?.client;
  let tokens = used?.tokens;
  let verifier = "";
  let address: URL | null = null;
  return {
    redirectUrl,
    clientMetadataUrl: options.clientMetadataUrl,
    clientMetadata: {
      client_name: options.clientName,
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      scope: transport.login.scopes?.join(" "),
    },
    state: () => consent?.state ?? "",
    clientInformation: () => client,
    saveClientInformation(information) {
      if (!consent) throw new Error("its client registration is no longer valid");
      client = information;
    },
    // Refreshing does not widen the scope of a token.
    tokens: () => (status === 403 ? undefined : tokens),
    async saveTokens(granted) {
      tokens = granted;
      if (client) await keep({ url: transport.url, client, tokens: granted });
    },
    redirectToAuthorization(url) {
      if (!consent) throw new Error("its refresh token is no longer valid");
      // A browser is started with it; other schemes start other programs, or open a file.
      if (!/^https?:$/.test(url.protocol)) throw new Error(`its login page is not a web address: ${url.protocol}//…`);
      address = url;
    },
    saveCodeVerifier(value) {
      verifier = value;
    },
    codeVerifier: () => verifier,
    invalidateCredentials(what) {
      if (what === "all" || what === "client") client = registeredClient(options);
      if (what === "all" || what === "tokens") tokens = undefined;
    },
    ...(resource && { validateResourceURL: async () => new URL(resource) }),
    code(signal) {
      if (!consent || !address) throw new Error("no user can consent here");
      return consent.ask(address, signal);
    },
  };
}

function registeredClient({ registered, transport }: ProviderOptions): RegisteredClient | undefined {
  const { clientId } = transport.login;
  return registered ?? (clientId === undefined ? undefined : { client_id: clientId });
}

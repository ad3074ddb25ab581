// What the SDK's login asks of its surroundings: who we are, what is stored, where a person is sent to consent.
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import type { OAuthClientInformationMixed } from "@modelcontextprotocol/sdk/shared/auth.js";
import type { Challenge } from "../authorization.ts";
import type { HttpTransport } from "../settings.ts";
import type { Credentials } from "./credentials.ts";

/** A person at a browser. */
export interface Consent {
  /** Where the browser is sent back to. */
  redirectUrl: string;
  /** Comes back with the answer, so that an answer to another question is not taken for ours. */
  state: string;
  /** Shows the address and settles with the code that came back. */
  ask(url: URL, signal: AbortSignal): Promise<string>;
}

/** A client somebody registered by hand. */
export interface RegisteredClient {
  client_id: string;
  client_secret?: string;
}

export interface ProviderOptions {
  transport: HttpTransport;
  clientName: string;
  clientMetadataUrl?: string;
  consent: Consent | null;
  registered?: RegisteredClient;
  used: Credentials | null;
  keep(credentials: Credentials): Promise<void>;
}

export interface Provider extends OAuthClientProvider {
  /** Sends the person to the address that was chosen and waits for the answer. */
  code(signal: AbortSignal): Promise<string>;
}

/** Never visited: without a person the login ends before anybody is sent there. */
const nowhere = "http://127.0.0.1/callback";

export function openProvider(options: ProviderOptions, { status }: Challenge): Provider {
  const { transport, consent, used, keep } = options;
  const { resource } = transport.login;
  const redirectUrl = consent?.redirectUrl ?? nowhere;
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
    // A token that is too narrow gets no wider by being renewed.
    tokens: () => (status === 403 ? undefined : tokens),
    async saveTokens(granted) {
      tokens = granted;
      if (client) await keep({ url: transport.url, client, tokens: granted });
    },
    redirectToAuthorization(url) {
      if (!consent) throw new Error("its refresh token is no longer valid");
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
      if (!consent || !address) throw new Error("there is nobody to ask for consent");
      return consent.ask(address, signal);
    },
  };
}

function registeredClient({ registered, transport }: ProviderOptions): RegisteredClient | undefined {
  const { clientId } = transport.login;
  return registered ?? (clientId === undefined ? undefined : { client_id: clientId });
}

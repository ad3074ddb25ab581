// Tokens from a login: sent along, renewed when refused, and asked for anew where a person is there to consent.
import type { Authorization, Challenge } from "../authorization.ts";
import type { HttpTransport } from "../settings.ts";
import type { CredentialStore, Credentials } from "./credentials.ts";
import { type Consent, openProvider, type RegisteredClient } from "./provider.ts";

export interface OAuthOptions {
  server: string;
  transport: HttpTransport;
  store: CredentialStore;
  clientName: string;
  /** How a person says yes; null where nobody is there: then tokens are only renewed. */
  consent: Consent | null;
  /** What the user has to do where tokens cannot be renewed. */
  advice: string;
  registered?: RegisteredClient;
  /** Address of a document that describes this client, for servers that read one. */
  clientMetadataUrl?: string;
}

export function oauthAuthorization(options: OAuthOptions): Authorization {
  const { server, transport, store, consent } = options;
  let known: Credentials | null | undefined = consent ? null : undefined;
  let renewing: Promise<boolean> | null = null;

  async function current(): Promise<Credentials | null> {
    if (known === undefined) known = await stored();
    return known;
  }

  async function stored(): Promise<Credentials | null> {
    const credentials = await store.read(server);
    return credentials?.url === transport.url ? credentials : null;
  }

  async function renewNow(challenge: Challenge, signal: AbortSignal): Promise<boolean> {
    const used = await current();
    if (!consent) {
      const newer = await stored();
      known = newer;
      // Another process was faster: with most servers a refresh token is good only once.
      if (newer && newer.tokens.access_token !== used?.tokens.access_token) return true;
      if (!newer?.tokens.refresh_token || challenge.status !== 401) return false;
    }
    const keep = async (credentials: Credentials) => {
      known = credentials;
      await store.write(server, credentials);
    };
    return obtain(challenge, { ...options, used, keep }, signal);
  }

  return {
    async headers(): Promise<Record<string, string>> {
      const credentials = await current();
      return credentials ? { authorization: `Bearer ${credentials.tokens.access_token}` } : {};
    },
    renew(challenge, signal) {
      renewing ??= renewNow(challenge, signal).finally(() => {
        renewing = null;
      });
      return renewing;
    },
    advice: options.advice,
  };
}

interface Obtaining extends OAuthOptions {
  used: Credentials | null;
  keep(credentials: Credentials): Promise<void>;
}

async function obtain(challenge: Challenge, options: Obtaining, signal: AbortSignal): Promise<boolean> {
  const { auth, extractWWWAuthenticateParams } = await import("@modelcontextprotocol/sdk/client/auth.js");
  const { url, login } = options.transport;
  const hints = extractWWWAuthenticateParams(new Response(null, { headers: { "www-authenticate": challenge.header } }));
  const provider = openProvider(options, challenge);
  const request = {
    serverUrl: url,
    scope: login.scopes?.join(" ") ?? hints.scope,
    resourceMetadataUrl: hints.resourceMetadataUrl,
    fetchFn: (address: string | URL, init?: RequestInit) => fetch(address, { ...init, signal }),
  };
  try {
    if ((await auth(provider, request)) === "AUTHORIZED") return true;
    const authorizationCode = await provider.code(signal);
    return (await auth(provider, { ...request, authorizationCode })) === "AUTHORIZED";
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`it gave us no token: ${message || "no reason was given"}; ${options.advice}`, { cause: error });
  }
}

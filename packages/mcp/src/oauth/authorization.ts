// OAuth tokens: sent with requests, refreshed when refused, and obtained by login when the user can consent.

import type { HttpTransport } from "../settings.ts";
import type { Authorization, Challenge } from "../transport/index.ts";
import type { CredentialStore, Credentials } from "./credentials.ts";
import { type ConsentFlow, openProvider, type RegisteredClient } from "./provider.ts";

export interface OAuthOptions {
  server: string;
  transport: HttpTransport;
  store: CredentialStore;
  clientName: string;
  /** How the user consents; null without a user: then tokens are only refreshed. */
  consent: ConsentFlow | null;
  /** What the user must do when tokens cannot be refreshed. */
  advice: string;
  registered?: RegisteredClient;
  /** URL of the client metadata document, for servers that support it. */
  clientMetadataUrl?: string;
}

export function oauthAuthorization(options: OAuthOptions): Authorization {
  const { server, transport, store, consent } = options;
  let cached: Credentials | null | undefined = consent ? null : undefined;
  let renewing: Promise<boolean> | null = null;

  async function current(): Promise<Credentials | null> {
    if (cached === undefined) cached = await stored();
    return cached;
  }

  async function stored(): Promise<Credentials | null> {
    const credentials = await store.read(server);
    return credentials?.url === transport.url ? credentials : null;
  }

  async function renewNow(challenge: Challenge, signal: AbortSignal): Promise<boolean> {
    const used = await current();
    if (!consent) {
      const newer = await stored();
      cached = newer;
      // Another process was faster: most servers accept a refresh token only once.
      if (newer && newer.tokens.access_token !== used?.tokens.access_token) return true;
      if (!newer?.tokens.refresh_token || challenge.status !== 401) return false;
      // Of a file that another program wrote, it may be anything.
      if (typeof newer.tokens.issuer !== "string" || newer.tokens.issuer === "") throw withoutIssuer(options.advice);
    }
    const keep = async (credentials: Credentials) => {
      cached = credentials;
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

/** The MCP server names its authorization server anew each time: a refresh token could go to any it likes. */
const withoutIssuer = (advice: string) =>
  new Error(`could not get a token: the stored login does not say which server issued it; ${advice}`);

interface ObtainOptions extends OAuthOptions {
  used: Credentials | null;
  keep(credentials: Credentials): Promise<void>;
}

async function obtain(challenge: Challenge, options: ObtainOptions, signal: AbortSignal): Promise<boolean> {
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
    throw new Error(`could not get a token: ${message || "no reason given"}; ${options.advice}`, { cause: error });
  }
}

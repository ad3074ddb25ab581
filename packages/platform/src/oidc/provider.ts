// An OpenID provider: where to send a browser, and what the provider says about whoever comes back.
import type * as client from "openid-client";
import type { OidcSettings } from "../config/index.ts";
import type { NetworkPolicy } from "../network/index.ts";
import { ask, ProviderAway } from "./guarded-fetch.ts";

export interface Provider {
  /** What has to be remembered until the browser is back. */
  begin(redirectUrl: string): Promise<{ url: string; secrets: LoginSecrets }>;
  /** Checks state, code, signature, issuer, audience and nonce. */
  finish(cameBackTo: URL, secrets: LoginSecrets): Promise<Claims>;
}

/** Each holds for one login. */
export interface LoginSecrets {
  state: string;
  nonce: string;
  verifier: string;
}

export interface Claims {
  issuer: string;
  subject: string;
  /** Null where the provider does not say, or did not verify it. */
  verifiedEmail: string | null;
  groups: string[];
}

/** A sentence for the browser, and a word for the log. */
export class LoginRefused extends Error {
  override name = "LoginRefused";
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export interface ProviderOptions {
  settings: OidcSettings;
  secret: string | null;
  policy: NetworkPolicy;
  now(): number;
}

export function openProvider(options: ProviderOptions): Provider {
  const configuration = rememberFor(() => discover(options), options.now);
  return {
    begin: (redirectUrl) => refusing(async () => begin(await configuration(), options.settings, redirectUrl)),
    finish: (cameBackTo, secrets) =>
      refusing(async () => finish(await configuration(), { ...options, cameBackTo, secrets })),
  };
}

type Library = typeof client;

interface Discovered {
  library: Library;
  configuration: client.Configuration;
}

const limitSeconds = 15;

async function discover({ settings, secret, policy }: ProviderOptions): Promise<Discovered> {
  const library = await import("openid-client");
  const issuer = new URL(settings.issuer);
  const guarded: client.CustomFetch = (url, { method, headers, body }) =>
    ask(policy, url, { method, headers, body: body?.toString() });
  const configuration = await library.discovery(
    issuer,
    settings.clientId,
    {},
    secret === null ? library.None() : withSecret(library, secret),
    {
      [library.customFetch]: guarded,
      timeout: limitSeconds,
      // Otherwise the token is believed because of the connection it came by.
      execute: [
        library.enableNonRepudiationChecks,
        ...(issuer.protocol === "http:" ? [library.allowInsecureRequests] : []),
      ],
    },
  );
  return { library, configuration };
}

/** In the header, unless the provider takes it in the body only. */
const withSecret =
  ({ ClientSecretBasic, ClientSecretPost }: Library, secret: string): client.ClientAuth =>
  (server, ...rest) => {
    const takes = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    const present = takes.includes("client_secret_basic") ? ClientSecretBasic : ClientSecretPost;
    present(secret)(server, ...rest);
  };

async function begin({ library, configuration }: Discovered, { scopes }: OidcSettings, redirectUrl: string) {
  const verifier = library.randomPKCECodeVerifier();
  const secrets = { state: library.randomState(), nonce: library.randomNonce(), verifier };
  const url = library.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUrl,
    scope: scopes.join(" "),
    state: secrets.state,
    nonce: secrets.nonce,
    code_challenge: await library.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  });
  return { url: url.href, secrets };
}

interface Finishing extends ProviderOptions {
  cameBackTo: URL;
  secrets: LoginSecrets;
}

async function finish({ library, configuration }: Discovered, finishing: Finishing): Promise<Claims> {
  const { cameBackTo, secrets, settings } = finishing;
  const tokens = await library.authorizationCodeGrant(configuration, cameBackTo, {
    expectedState: secrets.state,
    expectedNonce: secrets.nonce,
    pkceCodeVerifier: secrets.verifier,
    idTokenExpected: true,
  });
  const told = tokens.claims();
  if (!told) throw new LoginRefused("no_id_token", "The provider did not say who you are. Log in again.");
  const wanted = ["email", ...(settings.administrators ? [settings.administrators.claim] : [])];
  const isEnough = wanted.every((claim) => told[claim] !== undefined);
  const more =
    isEnough || configuration.serverMetadata().userinfo_endpoint === undefined
      ? {}
      : await library.fetchUserInfo(configuration, tokens.access_token, told.sub);
  return readClaims({ ...more, ...told }, settings);
}

function readClaims(claims: client.IDToken, { administrators }: OidcSettings): Claims {
  const { iss: issuer, sub: subject, email, email_verified: isVerified } = claims;
  const groups = administrators ? claims[administrators.claim] : [];
  return {
    issuer,
    subject,
    verifiedEmail: typeof email === "string" && isVerified === true ? email : null,
    groups: Array.isArray(groups) ? groups.filter((group) => typeof group === "string") : [],
  };
}

const rememberedMs = 3_600_000;

/** What a provider publishes changes rarely. A failure is not remembered. */
function rememberFor<T>(find: () => Promise<T>, now: () => number): () => Promise<T> {
  let known: { value: Promise<T>; until: number } | null = null;
  return async () => {
    if (known && now() < known.until) return known.value;
    const begun = { value: find(), until: now() + rememberedMs };
    known = begun;
    begun.value.catch(() => {
      if (known === begun) known = null;
    });
    return begun.value;
  };
}

async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof LoginRefused ? error : refusalOf(error);
  }
}

/** Nothing of what was sent to us is shown but short codes: anybody can write a callback. */
function refusalOf(error: unknown): LoginRefused {
  const away = causes(error).find((one) => one instanceof ProviderAway);
  if (away) return new LoginRefused("provider_away", `The provider cannot be asked: ${away.message}`, { cause: error });
  const { error: answered, code } = error as { error?: unknown; code?: unknown };
  if (typeof answered === "string" && /^[a-z_]{1,60}$/.test(answered))
    return new LoginRefused(answered, `The provider refused (${answered}). Log in again.`, { cause: error });
  const word = typeof code === "string" ? code : "unverified";
  const advice = "Log in again; where that does not help, an administrator finds the reason in the log.";
  return new LoginRefused(word, `What the provider sent cannot be verified. ${advice}`, { cause: error });
}

const causes = (error: unknown): unknown[] => (error instanceof Error ? [error, ...causes(error.cause)] : []);

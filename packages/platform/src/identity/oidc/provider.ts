// An OpenID provider: builds the authorization URL, verifies the callback, returns the claims.
import type * as client from "openid-client";
import type { NetworkPolicy, OidcSettings } from "../../foundation/index.ts";
import { isEmail } from "../principals/index.ts";
import { guardedFetch, ProviderUnreachable } from "./guarded-fetch.ts";

export interface Provider {
  /** The secrets must be kept until the callback. */
  begin(redirectUrl: string): Promise<{ url: string; secrets: LoginSecrets }>;
  /** Verifies state, code, signature, issuer, audience and nonce. */
  finish(callbackUrl: URL, secrets: LoginSecrets): Promise<Claims>;
}

/** For one login only. */
export interface LoginSecrets {
  state: string;
  nonce: string;
  verifier: string;
}

export interface Claims {
  issuer: string;
  subject: string;
  /** Null if the provider sent none or did not verify it. */
  verifiedEmail: string | null;
  groups: string[];
}

/** A message for the browser and a code for the log. */
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
  const configuration = cacheFor(() => discover(options), options.now);
  return {
    begin: (redirectUrl) => withRefusals(async () => begin(await configuration(), options.settings, redirectUrl)),
    finish: (callbackUrl, secrets) =>
      withRefusals(async () => finish(await configuration(), { ...options, callbackUrl, secrets })),
  };
}

type Library = typeof client;

interface Discovered {
  library: Library;
  configuration: client.Configuration;
}

const timeoutSeconds = 15;

async function discover({ settings, secret, policy }: ProviderOptions): Promise<Discovered> {
  const library = await import("openid-client");
  const issuer = new URL(settings.issuer);
  const guarded: client.CustomFetch = (url, { method, headers, body }) =>
    guardedFetch(policy, url, { method, headers, body: body?.toString() });
  const configuration = await library.discovery(
    issuer,
    settings.clientId,
    {},
    secret === null ? library.None() : withSecret(library, secret),
    {
      [library.customFetch]: guarded,
      timeout: timeoutSeconds,
      // Without it, the ID token would be accepted unverified because it came over TLS.
      execute: [
        library.enableNonRepudiationChecks,
        ...(issuer.protocol === "http:" ? [library.allowInsecureRequests] : []),
      ],
    },
  );
  requireIssuer(configuration.serverMetadata().issuer, settings.issuer);
  return { library, configuration };
}

/** The library takes one with a slash more, and then refuses every token. Thrown here, the document is not cached. */
function requireIssuer(found: string, configured: string): void {
  if (found === configured) return;
  throw new LoginRefused(
    "other_issuer",
    `The discovery document of the provider names the issuer ${JSON.stringify(found)}. Ask an administrator to set oidc.issuer to exactly that.`,
  );
}

/** In the header, unless the provider only accepts it in the body. */
const withSecret =
  ({ ClientSecretBasic, ClientSecretPost }: Library, secret: string): client.ClientAuth =>
  (server, ...rest) => {
    const supported = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    const present = supported.includes("client_secret_basic") ? ClientSecretBasic : ClientSecretPost;
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

interface FinishRequest extends ProviderOptions {
  callbackUrl: URL;
  secrets: LoginSecrets;
}

async function finish({ library, configuration }: Discovered, request: FinishRequest): Promise<Claims> {
  const { callbackUrl, secrets, settings } = request;
  const tokens = await library.authorizationCodeGrant(configuration, callbackUrl, {
    expectedState: secrets.state,
    expectedNonce: secrets.nonce,
    pkceCodeVerifier: secrets.verifier,
    idTokenExpected: true,
  });
  const idClaims = tokens.claims();
  if (!idClaims) throw new LoginRefused("no_id_token", "The provider sent no ID token. Log in again.");
  checkIdToken(idClaims, request);
  const sources: UserClaims[] = [idClaims];
  if (!hasAllClaims(idClaims, settings) && configuration.serverMetadata().userinfo_endpoint !== undefined)
    // Refuses another subject than that of the ID token.
    sources.push(await library.fetchUserInfo(configuration, tokens.access_token, idClaims.sub));
  return readClaims(idClaims, sources, settings);
}

/** The library accepts these. */
function checkIdToken({ sub, azp, iat, exp }: client.IDToken, { settings, now }: FinishRequest): void {
  if (!isSubject(sub))
    throw new LoginRefused("invalid_subject", "The provider sent an invalid subject. Ask an administrator to fix it.");
  if (azp !== undefined && azp !== settings.clientId)
    throw new LoginRefused("other_party", "The provider's ID token was issued to another client. Log in again.");
  const seconds = now() / 1_000;
  if (iat > seconds + clockSkewSeconds || exp > seconds + maxLifetimeSeconds)
    throw new LoginRefused(
      "invalid_times",
      "The provider's ID token was issued in the future or never expires. Ask an administrator to compare the clocks.",
    );
}

/** As the library allows for the end. */
const clockSkewSeconds = 30;
const maxLifetimeSeconds = 366 * 86_400;

/** PostgreSQL rejects NUL, and half a surrogate pair would be stored as the same character as any other half. */
const isSubject = (subject: string): boolean =>
  subject.length <= 255 && subject.trim() !== "" && /^[^\p{Cc}\p{Cs}]+$/u.test(subject);

/** Claims about the user, from the ID token or from the user info. */
type UserClaims = Record<string, unknown>;

const hasAddress = (claims: UserClaims): boolean => claims.email !== undefined && claims.email_verified !== undefined;

const hasAllClaims = (claims: UserClaims, { administrators }: OidcSettings): boolean =>
  hasAddress(claims) && (administrators === null || claims[administrators.claim] !== undefined);

/** Address and verification are of one source: users of many providers can change the address in one of them. */
function readClaims(
  { iss: issuer, sub: subject }: client.IDToken,
  sources: UserClaims[],
  { administrators }: OidcSettings,
): Claims {
  const { email, email_verified: isVerified } = sources.find(hasAddress) ?? {};
  const groups =
    administrators && sources.map((claims) => claims[administrators.claim]).find((one) => one !== undefined);
  return {
    issuer,
    subject,
    verifiedEmail: typeof email === "string" && isEmail(email) && isVerified === true ? email : null,
    groups: Array.isArray(groups) ? groups.filter((group) => typeof group === "string") : [],
  };
}

const cacheMs = 3_600_000;

/** Provider metadata changes rarely. Failures are not cached. */
function cacheFor<T>(find: () => Promise<T>, now: () => number): () => Promise<T> {
  let cached: { value: Promise<T>; until: number } | null = null;
  return async () => {
    if (cached && now() < cached.until) return cached.value;
    const entry = { value: find(), until: now() + cacheMs };
    cached = entry;
    entry.value.catch(() => {
      if (cached === entry) cached = null;
    });
    return entry.value;
  };
}

async function withRefusals<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof LoginRefused ? error : refusalOf(error);
  }
}

/** Only short codes of the callback are shown: any site can forge a callback URL. */
function refusalOf(error: unknown): LoginRefused {
  const unreachable = causes(error).find((one) => one instanceof ProviderUnreachable);
  if (unreachable)
    return new LoginRefused("provider_away", `The provider could not be reached: ${unreachable.message}`, {
      cause: error,
    });
  const { error: providerCode, code } = error as { error?: unknown; code?: unknown };
  if (typeof providerCode === "string" && /^[a-z_]{1,60}$/.test(providerCode))
    return new LoginRefused(providerCode, `The provider refused (${providerCode}). Log in again.`, { cause: error });
  const logCode = typeof code === "string" ? code : "unverified";
  const advice = "Log in again; if that fails, an administrator can find the reason in the log.";
  return new LoginRefused(logCode, `The response of the provider could not be verified. ${advice}`, { cause: error });
}

const causes = (error: unknown): unknown[] => (error instanceof Error ? [error, ...causes(error.cause)] : []);

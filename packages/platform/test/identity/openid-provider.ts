// OpenID providers for tests: a real one, and one that sends whatever a test sets.
import { createHmac, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";
import type { OidcSettings } from "../../src/foundation/config/index.ts";

export const clientSecret = "a secret that only the two of them know";

export const oidcSettings = (issuer: string, changes: Partial<OidcSettings> = {}): OidcSettings => ({
  issuer,
  clientId: "platform",
  secretVariable: "OIDC_SECRET",
  scopes: ["openid", "email", "profile"],
  name: "Example",
  allowedDomains: [],
  allowedEmails: [],
  team: "default",
  administrators: null,
  ...changes,
});

export interface Account {
  email?: string;
  email_verified?: boolean;
  groups?: string[];
}

export interface RealProvider {
  issuer: string;
  /** Keyed by subject. */
  accounts: Map<string, Account>;
  /** Subject of the next login. */
  person: string;
  /** Registers a platform as a client, before the first request. */
  register(platformUrl: string): void;
  close(): Promise<void>;
}

/** oidc-provider: logs in the subject that the test sets, without prompts. */
export async function realProvider(): Promise<RealProvider> {
  let answer: RequestListener = (_request, response) => void response.writeHead(503).end();
  const { url: issuer, close } = await listening((request, response) => answer(request, response));
  const real: RealProvider = {
    issuer,
    close,
    accounts: new Map(),
    person: "",
    register(platformUrl) {
      const provider = openRealProvider(real, platformUrl);
      answer = (request, response) => void serve(provider, real, request, response);
    },
  };
  return real;
}

/** An hour: on a busy machine minutes pass before a test uses the code that it got at its beginning. */
const ttl = 3_600;

function openRealProvider(real: RealProvider, platformUrl: string): Provider {
  const client = {
    client_id: "platform",
    client_secret: clientSecret,
    redirect_uris: [`${platformUrl}/login/oidc/callback`],
  };
  return new Provider(real.issuer, {
    clients: [client],
    cookies: { keys: [randomBytes(16).toString("hex")] },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["groups"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    pkce: { required: () => true },
    ttl: { AuthorizationCode: ttl, Interaction: ttl, Grant: ttl, Session: ttl, AccessToken: ttl, IdToken: 60 },
    jwks: { keys: [signingKey().privateJwk] },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: async () => ({ sub: id, ...real.accounts.get(id) }),
    }),
    async loadExistingGrant(context) {
      const { client: requester, session, provider } = context.oidc;
      if (!requester || !session?.accountId) return undefined;
      const grant = new provider.Grant({ clientId: requester.clientId, accountId: session.accountId });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
  });
}

async function serve(provider: Provider, real: RealProvider, request: IncomingMessage, response: ServerResponse) {
  if (!request.url?.startsWith("/interaction/")) return provider.callback()(request, response);
  const login = { accountId: real.person, remember: false };
  await provider.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false });
}

export interface MaliciousProvider {
  issuer: string;
  /** Creates the next ID token. */
  token: (request: AuthorizationRequest) => Promise<string> | string;
  /** The claims of the user info endpoint. */
  userInfo: Record<string, unknown>;
  /** Instead of the usual answer, by path. */
  answers: Record<string, (response: ServerResponse) => void>;
  metadata: ReturnType<typeof metadata>;
  /** Parameters added to the callback. */
  back: Record<string, string>;
  key: ReturnType<typeof signingKey>;
  close(): Promise<void>;
}

export interface AuthorizationRequest {
  nonce: string;
  issuer: string;
}

/** Speaks the OpenID protocol and sends false data where the test asks for it. */
export async function maliciousProvider(): Promise<MaliciousProvider> {
  const codes = new Map<string, AuthorizationRequest>();
  const { url: issuer, close } = await listening((request, response) => void answer(request, response));
  const provider: MaliciousProvider = {
    issuer,
    close,
    back: {},
    answers: {},
    metadata: metadata(issuer),
    userInfo: {},
    key: signingKey(),
    token: ({ nonce }) => makeToken(provider.key.privateKey, claimsFor(provider, nonce)),
  };
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", issuer);
    const other = provider.answers[url.pathname];
    if (other) return other(response);
    if (url.pathname === "/authorize") return authorize(url, response);
    const known: Record<string, () => Promise<unknown>> = {
      "/.well-known/openid-configuration": async () => provider.metadata,
      "/userinfo": async () => provider.userInfo,
      "/jwks": async () => ({ keys: [provider.key.publicJwk] }),
      "/token": async () => ({
        access_token: "access",
        token_type: "Bearer",
        id_token: await provider.token(codes.get(await codeIn(request)) ?? { nonce: "", issuer }),
      }),
    };
    const body = await known[url.pathname]?.();
    response.writeHead(body ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(body ?? {}));
  }
  function authorize({ searchParams }: URL, response: ServerResponse): void {
    const code = randomBytes(8).toString("hex");
    codes.set(code, { nonce: searchParams.get("nonce") ?? "", issuer });
    const back = new URL(searchParams.get("redirect_uri") ?? "");
    const state = searchParams.get("state") ?? "";
    back.search = new URLSearchParams({ code, state, ...provider.back }).toString();
    response.writeHead(302, { location: back.href }).end();
  }
  return provider;
}

export const claimsFor = ({ issuer }: MaliciousProvider, nonce: string) => ({
  iss: issuer,
  aud: "platform",
  sub: "mallory",
  nonce,
  iat: Math.floor(Date.now() / 1_000),
  exp: Math.floor(Date.now() / 1_000) + 300,
  email: "mallory@example.com",
  email_verified: true,
});

export function makeToken(key: KeyObject | null, claims: object, algorithm = "RS256"): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: algorithm, kid: "one", typ: "JWT" })}.${part(claims)}`;
  return `${signed}.${key ? signatureOf(signed, key).toString("base64url") : ""}`;
}

const signatureOf = (text: string, key: KeyObject): Buffer =>
  key.type === "secret" ? createHmac("sha256", key).update(text).digest() : sign("sha256", Buffer.from(text), key);

export function signingKey() {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const shared = { kid: "one", use: "sig", alg: "RS256" };
  return {
    privateKey,
    publicKey,
    publicJwk: { ...publicKey.export({ format: "jwk" }), ...shared },
    privateJwk: { ...privateKey.export({ format: "jwk" }), ...shared, kty: "RSA" as const },
  };
}

const metadata = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  userinfo_endpoint: `${issuer}/userinfo`,
  jwks_uri: `${issuer}/jwks`,
  response_types_supported: ["code"],
  subject_types_supported: ["public"],
  id_token_signing_alg_values_supported: ["RS256", "none", "HS256"],
});

async function codeIn(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of request) text += piece;
  return new URLSearchParams(text).get("code") ?? "";
}

async function listening(answer: RequestListener): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

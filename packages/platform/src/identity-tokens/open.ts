// Signs tokens for agents, and publishes what verifiers need: the discovery document and the keys.
import type { ServerContext, Subject } from "../foundation/index.ts";
import { openBuckets } from "./bucket.ts";
import { openIdentityKeys } from "./keys.ts";
import { type Mint, openSocketServices, type ServeIdentity } from "./socket-service.ts";
import { claimsOf, lifetimeSeconds, signToken } from "./token.ts";

export interface IdentityTokens extends Subject {
  mint: Mint;
  /** For the socket in the machine of an agent. */
  serve: ServeIdentity;
}

const limit = { burst: 10, perMinute: 30 };
const keysPath = "/.well-known/jwks.json";

export function openIdentityTokens(context: ServerContext): IdentityTokens {
  const { publicUrl, now, log } = context;
  const keys = openIdentityKeys(context);
  const buckets = openBuckets(limit, () => performance.now());
  const mint: Mint = async (facts, { aud, nonce, subClaim }) => {
    const waitSeconds = buckets.take(facts.agentId);
    if (waitSeconds > 0)
      throw Object.assign(new Error(`Try again in ${waitSeconds} seconds.`), {
        code: "rate_limited",
        retryAfter: waitSeconds,
      });
    const [id, at] = [crypto.randomUUID(), now()];
    const options = {
      issuer: publicUrl(),
      audience: aud,
      nonce,
      subject: subClaim ?? ("owner" as const),
      id,
      now: at,
    };
    const token = signToken(claimsOf(facts, options), await keys.signer());
    log.info("identity.token", { agentId: facts.agentId, audience: aud, tokenId: id });
    const expiresAt = new Date((Math.floor(at.getTime() / 1_000) + lifetimeSeconds) * 1_000);
    return { token, expiresAt: expiresAt.toISOString() };
  };
  return {
    routes({ app }) {
      // Verifiers have no key of the platform.
      const headers = { "cache-control": "public, max-age=300" };
      app.get("/.well-known/openid-configuration", (request) =>
        request.json(discoveryDocument(publicUrl()), 200, headers),
      );
      app.get(keysPath, async (request) => request.json(await keys.published(), 200, headers));
    },
    mint,
    serve: openSocketServices(context, mint, () => performance.now()),
  };
}

/** There is nothing to log in to: tokens come from the socket of the agent alone. */
const discoveryDocument = (issuer: string) => ({
  issuer,
  jwks_uri: `${issuer}${keysPath}`,
  response_types_supported: ["id_token"],
  subject_types_supported: ["public"],
  id_token_signing_alg_values_supported: ["RS256"],
  scopes_supported: ["openid"],
  claims_supported: [
    ...["iss", "sub", "aud", "iat", "nbf", "exp", "jti", "nonce", "cloud_agent_id", "agent_runtime"],
    ...["owner_email", "owner_user_id", "owner_service_account_id", "team_id", "turn_id", "turn_start"],
    ...["repo_url", "repo_urls", "repo_count", "branch_name", "environment_id", "source", "automation_id"],
  ],
  x_platform_audience_bound: true,
  x_platform_sub_claims_supported: ["team_id"],
});

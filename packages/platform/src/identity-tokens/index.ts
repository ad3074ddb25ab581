// Identity tokens: short-lived JWTs that say which agent runs, for other services to verify (OIDC).

export { type IdentityTokens, openIdentityTokens } from "./open.ts";
export type { AgentFacts } from "./token.ts";

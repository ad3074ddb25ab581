// Identity tokens: short-lived JWTs that say which agent runs, for other services to verify (OIDC).

export { readFacts } from "./facts.ts";
export { type IdentityTokens, openIdentityTokens } from "./open.ts";
export { shownRepository } from "./repository-name.ts";
export type { AgentOnServer, ServeIdentity } from "./socket-service.ts";
export type { AgentFacts } from "./token.ts";

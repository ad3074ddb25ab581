// Logging in to an MCP server, and renewing its tokens.
export { type OAuthOptions, oauthAuthorization } from "./authorization.ts";
export type { CredentialStore, Credentials } from "./credentials.ts";
export { type LoginOptions, type LoginResult, logIn } from "./login.ts";
export type { ConsentFlow } from "./provider.ts";

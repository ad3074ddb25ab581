export { type Authorization, type Challenge, noAuthorization } from "./authorization.ts";
export type { DirectAccess, Offer } from "./direct.ts";
export type { Reach } from "./exchange.ts";
export type { Elicited, McpHost } from "./host.ts";
export { nameTools } from "./names.ts";
export { type OAuthOptions, oauthAuthorization } from "./oauth/authorization.ts";
export type { CredentialStore, Credentials } from "./oauth/credentials.ts";
export { type LoggedIn, type LoginOptions, logIn } from "./oauth/login.ts";
export type { Consent } from "./oauth/provider.ts";
export { type McpServers, openMcpServers } from "./open.ts";
export { type Called, succeeded } from "./outcome.ts";
export type { CallResult } from "./readers.ts";
export type { ServerReport } from "./server.ts";
export {
  type HttpTransport,
  type ReadSettings,
  readSettings,
  type ServerSettings,
  type StdioTransport,
} from "./settings.ts";
export { parseObject } from "./tools.ts";

// MCP servers as tools of the engine.
export type { CallResult, ServerReport } from "./connection/index.ts";
export type { ElicitationResult, McpHost } from "./host.ts";
export {
  type ConsentFlow,
  type CredentialStore,
  type Credentials,
  type LoginOptions,
  type LoginResult,
  logIn,
  type OAuthOptions,
  oauthAuthorization,
} from "./oauth/index.ts";
export { type McpServers, openMcpServers } from "./open.ts";
export {
  type HttpTransport,
  readSettings,
  type ServerSettings,
  type SettingsResult,
  type StdioTransport,
} from "./settings.ts";
export {
  type CallDetails,
  changedReason,
  type DirectAccess,
  nameTools,
  parseObject,
  resultOutcome,
  type ServerOffer,
} from "./tools/index.ts";
export { type Authorization, type Challenge, type LookupFor, noAuthorization } from "./transport/index.ts";

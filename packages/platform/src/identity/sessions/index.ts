// Browser sessions and login links.
export {
  type Found,
  isSecure,
  openSessionAuthenticator,
  type ServerAddress,
  type SessionAuthenticator,
} from "./authenticator.ts";
export { type LoggedIn, makeLoginLink, readLoginLink, useLoginLink } from "./login-links.ts";
export { sessionRetention } from "./retention.ts";
export { hashSecret, isSecret, makeSecret } from "./secret.ts";
export {
  openSessions,
  type Presence,
  type Session,
  type SessionEntry,
  type SessionMethod,
  type Sessions,
} from "./sessions.ts";

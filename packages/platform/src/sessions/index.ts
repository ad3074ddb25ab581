// Browsers that are logged in.
export { type Found, isSecure, openSessionDoor, type Reached, type SessionDoor } from "./door.ts";
export { makeLoginLink, readLoginLink, useLoginLink } from "./login-links.ts";
export { hashSecret, isSecret, makeSecret } from "./secret.ts";
export {
  openSessions,
  type Presence,
  type Session,
  type SessionEntry,
  type SessionMethod,
  type Sessions,
} from "./sessions.ts";

// What other groups may use of identity.
export { openAuthentication } from "./authenticate.ts";
export { type InvitationEntry, openInvitations } from "./invitations/index.ts";
export { callbackPath, localPath, type OidcLogin } from "./oidc/index.ts";
export { type Identity, openIdentity } from "./open.ts";
export {
  createFirstUser,
  ensureServiceAccount,
  followUpsOf,
  hashKey,
  isAddress,
  isEmail,
  isFormerUser,
  isSameHash,
  keyIdOf,
  lowerCase,
  makeKey,
  namesOfActors,
  openAdministration,
  type Principal,
  PrincipalError,
  type Principals,
  principalName,
  type Role,
  refuseFormerOwner,
  refuseFormerUser,
  refuseRemovedUser,
  type Scope,
  teamName,
  type UserEntry,
} from "./principals/index.ts";
export {
  makeLoginLink,
  type Presence,
  readLoginLink,
  type Session,
  type SessionAuthenticator,
  type SessionEntry,
  type Sessions,
  useLoginLink,
} from "./sessions/index.ts";
export {
  changeTeamSettings,
  changeUserSettings,
  type EgressSettings,
  readAutofix,
  readEgressSettings,
  readStartSettings,
  readTeamSettings,
  readUserSettings,
  settingsOfTeam,
} from "./settings/index.ts";
export {
  type AgentAction,
  openSharing,
  type RepositoryReading,
  relationOf,
  type SharedAgent,
  type Sharing,
} from "./sharing/index.ts";

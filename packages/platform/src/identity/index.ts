// What other groups may use of identity.
export { openAuthentication } from "./authenticate.ts";
export { type InvitationEntry, openInvitations } from "./invitations/index.ts";
export { callbackPath, localPath, type OidcLogin } from "./oidc/index.ts";
export { type Identity, openIdentity } from "./open.ts";
export {
  createFirstUser,
  createServiceAccount,
  ensureServiceAccount,
  followUps,
  followUpsOf,
  hashKey,
  isEmail,
  isSameHash,
  type KeyEntry,
  type KeyOwner,
  keyIdOf,
  listServiceAccounts,
  lowerCase,
  makeKey,
  namesOfActors,
  openAdministration,
  type Principal,
  PrincipalError,
  type Principals,
  principalName,
  type Role,
  type RotatedKey,
  type Scope,
  type ServiceAccountEntry,
  setFollowUps,
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
  readAutofix,
  readDefaultModels,
  readEgressSettings,
  readTeamSettings,
  readUserSettings,
  settingsOfTeam,
} from "./settings/index.ts";
export { type AgentAction, openSharing, type RepositoryReading, relationOf, type Sharing } from "./sharing/index.ts";

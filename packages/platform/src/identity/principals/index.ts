// Teams, users, service accounts, API keys and their scopes.
export {
  actingAs,
  type Principal,
  principalName,
  type Role,
  type Scope,
  scopes,
  scopesOf,
} from "../../foundation/index.ts";
export { becomePrincipal, isFormerUser, refuseFormerOwner, refuseFormerUser, refuseRemovedUser } from "./acting.ts";
export { isAddress, isEmail, lowerCase } from "./address.ts";
export {
  type Administration,
  followUps,
  openAdministration,
  type TeamChange,
  type TeamEntry,
  type UserChange,
  type UserEntry,
} from "./administration.ts";
export { createFirstUser, ensureServiceAccount, ensureTeam } from "./create.ts";
export { hashKey, isSameHash, keyIdOf, makeKey } from "./key.ts";
export type { CreatedKey, KeyEntry, KeyOwner, KeyRequest, RotatedKey } from "./key-types.ts";
export { namesOfActors } from "./names.ts";
export { PrincipalError } from "./principal-error.ts";
export {
  type Authentication,
  openPrincipals,
  type Principals,
} from "./principals.ts";
export { createServiceAccount, listServiceAccounts, type ServiceAccountEntry } from "./service-accounts.ts";
export { chooseSpendLimit, followUpsOf, setFollowUps, spendLimitOf, teamName } from "./teams.ts";
export { admitUser, changeUser, claimAddress, findMember, findUser, proveAddress, removeUser } from "./users.ts";

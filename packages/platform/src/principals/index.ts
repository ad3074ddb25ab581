// Who may ask for what.
export { actingAs } from "../db/index.ts";
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
export { createFirstUser, provideTeam } from "./create.ts";
export { type Principal, principalName, type Role, type Scope, scopes, scopesOf } from "./principal.ts";
export {
  type Authentication,
  type CreatedKey,
  type KeyEntry,
  type KeyOwner,
  type KeyRequest,
  openPrincipals,
  type Principals,
  type RotatedKey,
} from "./principals.ts";
export { PrincipalProblem } from "./problem.ts";
export { createServiceAccount, listServiceAccounts, type ServiceAccountEntry } from "./service-accounts.ts";
export { admitUser, changeUser, findUser } from "./users.ts";

// Who may ask for what.
export { type Principal, principalName, type Role, type Scope, scopes } from "./principal.ts";
export type { Authentication, CreatedKey, KeyEntry, KeyOwner, KeyRequest, Principals } from "./principals.ts";

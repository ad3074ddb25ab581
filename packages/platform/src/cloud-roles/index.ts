// Roles of AWS that agents work in: credentials for an hour, which the platform gets for them.
export { type CloudRoles, openCloudRoles, type RoleOfRun } from "./open.ts";
export { cloudRoleVariable, externalIdOf, isRoleArn } from "./role.ts";

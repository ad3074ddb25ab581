// Members, invitations, keys, service accounts and sessions over HTTP.
export type { IdentityHost } from "./host.ts";
export { addInvitationRoutes } from "./invitations.ts";
export { addKeyRoutes } from "./keys.ts";
export { addMemberRoutes } from "./members.ts";
export { addServiceAccountRoutes } from "./service-accounts.ts";
export { addSessionRoutes } from "./sessions.ts";

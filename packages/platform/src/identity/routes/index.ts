// Members and invitations over HTTP.
export type { IdentityHost } from "./host.ts";
export { addInvitationRoutes } from "./invitations.ts";
export { addMemberRoutes } from "./members.ts";

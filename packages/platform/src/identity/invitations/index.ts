// Invitations of users to a team.
export {
  acceptInvitation,
  type InvitationEntry,
  type Invitations,
  type Invited,
  openInvitations,
} from "./invitations.ts";
export { invitationRetention } from "./retention.ts";

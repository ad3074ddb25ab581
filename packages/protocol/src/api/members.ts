// Members of a team and its open invitations: `/v1/members` and `/v1/invitations`.
import { z } from "zod";
import { Timestamp } from "./common.ts";

export const MemberRole = z.enum(["admin", "member"]);
export type MemberRole = z.infer<typeof MemberRole>;

export const MemberId = z.object({ memberId: z.string().max(100) });

export const Member = z
  .object({
    id: z.int(),
    email: z.string(),
    role: MemberRole,
    createdAt: Timestamp,
    sessions: z.int().describe("Browsers that are logged in"),
    lastSeenAt: Timestamp.optional().describe("Of those browsers"),
  })
  .meta({ id: "Member" });
export type Member = z.infer<typeof Member>;

export const MemberList = z
  .object({
    items: z.array(Member),
    hasLoginLinks: z.boolean().describe("false where a provider logs people in"),
  })
  .meta({ id: "MemberList" });
export type MemberList = z.infer<typeof MemberList>;

export const MemberChange = z.strictObject({ role: MemberRole }).meta({ id: "MemberChange" });

export const EndedSessions = z.object({ ended: z.int() }).meta({ id: "EndedSessions" });

export const LoginLink = z
  .object({ link: z.string().describe("Logs one browser in as the member, within half an hour") })
  .meta({ id: "LoginLink" });
export type LoginLink = z.infer<typeof LoginLink>;

export const Invitation = z
  .object({ id: z.string(), email: z.string(), role: MemberRole, createdAt: Timestamp, expiresAt: Timestamp })
  .meta({ id: "Invitation" });
export type Invitation = z.infer<typeof Invitation>;

export const InvitationList = z.object({ items: z.array(Invitation) }).meta({ id: "InvitationList" });
export type InvitationList = z.infer<typeof InvitationList>;

export const NewInvitation = z
  .strictObject({ email: z.string().max(254), role: MemberRole.default("member") })
  .meta({ id: "NewInvitation" });

export const CreatedInvitation = z
  .object({
    ...{ id: z.string(), email: z.string(), role: MemberRole, expiresAt: Timestamp },
    link: z.string().describe("To join the team with, once. No other answer has it"),
  })
  .meta({ id: "CreatedInvitation" });
export type CreatedInvitation = z.infer<typeof CreatedInvitation>;

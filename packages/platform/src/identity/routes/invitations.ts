// Invitations to a team over HTTP, for its administrators. The link is only in the answer that creates one.
import { z } from "zod";
import { type Api, ApiError, schema } from "../../foundation/index.ts";
import { openInvitations } from "../invitations/index.ts";
import { isEmail } from "../principals/index.ts";
import { answering, type IdentityHost, requireSession } from "./host.ts";

const shared = { path: "/v1/invitations", tag: "Team", scope: "admin" } as const;

export function addInvitationRoutes(api: Api, host: IdentityHost): void {
  const { db, publicUrl } = host;
  const invitations = openInvitations(db, () => new Date());
  api.route(
    {
      ...shared,
      method: "get",
      summary: "List the open invitations",
      answer: { status: 200, schema: schema("members", "InvitationList"), description: "The oldest first" },
    },
    async ({ principal: { teamId } }) => {
      const items = (await invitations.list(teamId)).map(({ id, email, role, createdAt, expiresAt }) => ({
        ...{ id, email, role },
        createdAt: createdAt.toISOString(),
        expiresAt: expiresAt.toISOString(),
      }));
      return { items };
    },
  );
  api.route(
    {
      ...shared,
      method: "post",
      summary: "Invite an address; an open invitation of the same address is replaced",
      body: schema("members", "NewInvitation"),
      answer: {
        status: 201,
        schema: schema("members", "CreatedInvitation"),
        description: "The invitation, with its link",
      },
      problems: ["key_not_supported"],
    },
    async ({ body: { email, role }, principal }) => {
      const { teamId } = principal;
      await requireSession(host, principal, "invite people");
      if (!isEmail(email)) throw new ApiError("validation_error", `Invalid e-mail address: ${JSON.stringify(email)}.`);
      const { id, secret, expiresAt } = await answering(() => invitations.invite({ teamId, email, role }));
      const link = `${publicUrl()}/join?token=${secret}`;
      return { id, email, role, expiresAt: expiresAt.toISOString(), link };
    },
  );
  api.route(
    {
      ...shared,
      path: "/v1/invitations/{invitationId}",
      method: "delete",
      summary: "Revoke an open invitation",
      params: () => z.object({ invitationId: z.string().max(100) }),
      answer: { status: 200, schema: schema("common", "Acknowledged"), description: "The id of the invitation" },
      problems: ["not_found"],
    },
    async ({ params: { invitationId: id }, principal: { teamId } }) => {
      if (await invitations.revoke(teamId, id)) return { id };
      throw new ApiError("not_found", `There is no open invitation ${id}. List them: GET /v1/invitations.`);
    },
  );
}

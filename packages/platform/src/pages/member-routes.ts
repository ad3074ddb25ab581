// The page of a team's members: everybody sees them, administrators change them and invite others.
import type { Context } from "hono";
import { ApiProblem, type Env } from "../http/index.ts";
import { openInvitations } from "../invitations/index.ts";
import { openAdministration, type Role, type UserEntry } from "../principals/index.ts";
import { makeLoginLink } from "../sessions/index.ts";
import type { PageHost } from "./host.ts";
import { answerPage } from "./layout.ts";
import { type Fresh, membersPage } from "./member-pages.ts";
import type { Fields, Pages } from "./routes.ts";
import { isAdmin, requireAdmin, type Visitor } from "./session.ts";

export function addMemberPages(pages: Pages, { platform, agents, oidc }: PageHost): void {
  const { db, vault, sessions } = platform;
  const administration = openAdministration(db, vault);
  const invitations = openInvitations(db, () => new Date());

  const show = async (context: Context<Env>, visitor: Visitor, fresh: Fresh | null): Promise<Response> => {
    const { teamId, userId } = visitor.principal;
    const body = membersPage({
      users: await administration.listUsers(await teamName(visitor)),
      presence: await sessions.presence(teamId),
      invitations: isAdmin(visitor) ? await invitations.list(teamId) : [],
      ownId: userId,
      token: isAdmin(visitor) ? visitor.formToken : null,
      hasProvider: oidc !== null,
      fresh,
    });
    return answerPage(context, { title: "Members", visitor, body });
  };

  const teamName = async ({ principal }: Visitor): Promise<string> =>
    (await db.selectFrom("teams").select("name").where("id", "=", principal.teamId).executeTakeFirstOrThrow()).name;

  const memberIn = async (context: Context<Env>, visitor: Visitor): Promise<UserEntry> => {
    requireAdmin(visitor);
    const users = await administration.listUsers(await teamName(visitor));
    const found = users.find(({ id }) => String(id) === context.req.param("id"));
    if (!found) throw new ApiProblem("not_found", "There is no such member.");
    return found;
  };

  pages.get("/members", (context, visitor) => show(context, visitor, null));
  pages.form("/members/:id/role", async (context, visitor, fields) => {
    const { email } = await memberIn(context, visitor);
    await administration.changeUser(email, { role: roleIn(fields) });
    return context.redirect("/members", 303);
  });
  pages.form("/members/:id/remove", async (context, visitor) => {
    const { email } = await memberIn(context, visitor);
    await administration.removeUser(email);
    return context.redirect("/members", 303);
  });
  pages.form("/members/:id/end-sessions", async (context, visitor) => {
    const { id } = await memberIn(context, visitor);
    await sessions.endOf(id, "all");
    return context.redirect("/members", 303);
  });
  pages.form("/members/:id/login-link", async (context, visitor) => {
    const { id, email } = await memberIn(context, visitor);
    if (oidc) throw new ApiProblem("forbidden", `Members log in with ${oidc.name}. There are no links beside it.`);
    return show(context, visitor, { email, link: await makeLoginLink(db, id, agents.publicUrl()), days: null });
  });
  pages.form("/invitations", async (context, visitor, fields) => {
    requireAdmin(visitor);
    const email = emailIn(fields);
    const { secret } = await invitations.invite({
      teamId: visitor.principal.teamId,
      email,
      role: roleIn(fields),
    });
    return show(context, visitor, { email, link: `${agents.publicUrl()}/join?token=${secret}`, days: 7 });
  });
  pages.form("/invitations/:id/revoke", async (context, visitor) => {
    requireAdmin(visitor);
    if (!(await invitations.revoke(visitor.principal.teamId, context.req.param("id") ?? "")))
      throw new ApiProblem("not_found", "There is no such invitation, or it was used.");
    return context.redirect("/members", 303);
  });
}

function roleIn({ role = "" }: Fields): Role {
  if (role === "admin" || role === "member") return role;
  throw new ApiProblem("validation_error", "A role is admin or member.");
}

function emailIn({ email = "" }: Fields): string {
  const given = email.trim();
  if (/^[^\s@]+@[^\s@]+$/.test(given) && given.length <= 254) return given;
  throw new ApiProblem("validation_error", `"${given}" is no e-mail address.`);
}

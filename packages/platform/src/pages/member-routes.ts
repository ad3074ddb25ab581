// The page of a team's members: all members see it, administrators change members and invite others.
import type { Context } from "hono";
import { ApiError, type Env } from "../foundation/index.ts";
import {
  isEmail,
  makeLoginLink,
  openAdministration,
  openInvitations,
  type Role,
  type UserEntry,
} from "../identity/index.ts";
import type { Fields } from "./form.ts";
import type { PageHost, Pages } from "./host.ts";
import { answerPage } from "./layout.ts";
import { type Fresh, membersPage } from "./member-pages.ts";
import { isAdmin, requireAdmin, teamNameOf, type Visitor } from "./session.ts";

export function addMemberPages(pages: Pages, host: PageHost): void {
  pages.get("/members", (context, visitor) => show(host, { context, visitor, fresh: null }));
  addMemberActions(pages, host);
  addInviting(pages, host);
}

function addMemberActions(pages: Pages, host: PageHost): void {
  const { platform, agents, identity } = host;
  const { db, vault } = platform;
  const { sessions, oidc } = identity;
  const administration = openAdministration(db, vault);

  const memberIn = async (context: Context<Env>, visitor: Visitor): Promise<UserEntry> => {
    requireAdmin(visitor);
    const users = await administration.listUsers(await teamNameOf(db, visitor));
    const found = users.find(({ id }) => String(id) === context.req.param("id"));
    if (!found) throw new ApiError("not_found", "There is no such member.");
    return found;
  };

  pages.form("/members/:id/role", async (context, visitor, fields) => {
    await administration.changeUser(await memberIn(context, visitor), { role: roleIn(fields) });
    return context.redirect("/members", 303);
  });
  pages.form("/members/:id/remove", async (context, visitor) => {
    await administration.removeUser(await memberIn(context, visitor));
    return context.redirect("/members", 303);
  });
  pages.form("/members/:id/end-sessions", async (context, visitor) => {
    const { id } = await memberIn(context, visitor);
    await sessions.endOf(id, "all");
    return context.redirect("/members", 303);
  });
  pages.form("/members/:id/login-link", async (context, visitor) => {
    const { id, email } = await memberIn(context, visitor);
    if (oidc) throw new ApiError("forbidden", `Members log in with ${oidc.name}. Login links are not available.`);
    const link = await makeLoginLink(db, id, agents.publicUrl());
    return show(host, { context, visitor, fresh: { email, link, days: null } });
  });
}

function addInviting(pages: Pages, host: PageHost): void {
  const { platform, agents } = host;
  const invitations = openInvitations(platform.db, () => new Date());
  pages.form("/invitations", async (context, visitor, fields) => {
    requireAdmin(visitor);
    const email = emailIn(fields);
    const request = { teamId: visitor.principal.teamId, email, role: roleIn(fields) };
    const { secret } = await invitations.invite(request);
    const link = `${agents.publicUrl()}/join?token=${secret}`;
    return show(host, { context, visitor, fresh: { email, link, days: 7 } });
  });
  pages.form("/invitations/:id/revoke", async (context, visitor) => {
    requireAdmin(visitor);
    if (!(await invitations.revoke(visitor.principal.teamId, context.req.param("id") ?? "")))
      throw new ApiError("not_found", "There is no such invitation, or it was used.");
    return context.redirect("/members", 303);
  });
}

interface Showing {
  context: Context<Env>;
  visitor: Visitor;
  fresh: Fresh | null;
}

async function show({ platform, identity }: PageHost, { context, visitor, fresh }: Showing): Promise<Response> {
  const { db, vault } = platform;
  const { teamId, userId } = visitor.principal;
  const body = membersPage({
    users: await openAdministration(db, vault).listUsers(await teamNameOf(db, visitor)),
    presence: await identity.sessions.presence(teamId),
    invitations: isAdmin(visitor) ? await openInvitations(db, () => new Date()).list(teamId) : [],
    ownId: userId,
    token: isAdmin(visitor) ? visitor.formToken : null,
    hasProvider: identity.oidc !== null,
    fresh,
  });
  return answerPage(context, { title: "Members", visitor, body });
}

function roleIn({ role = "" }: Fields): Role {
  if (role === "admin" || role === "member") return role;
  throw new ApiError("validation_error", "Invalid role: use admin or member.");
}

function emailIn({ email = "" }: Fields): string {
  const trimmed = email.trim();
  if (isEmail(trimmed)) return trimmed;
  throw new ApiError("validation_error", `Invalid e-mail address: "${trimmed}".`);
}

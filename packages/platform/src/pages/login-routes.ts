// Coming in and leaving: by a link, with a provider, by an invitation.
import type { Context } from "hono";
import type { Env } from "../http/index.ts";
import { openInvitations } from "../invitations/index.ts";
import { callbackPath, localPath, type OidcLogin } from "../oidc/index.ts";
import { readLoginLink, type SessionDoor, useLoginLink } from "../sessions/index.ts";
import { readFields } from "./form.ts";
import type { PageHost } from "./host.ts";
import { answerPage } from "./layout.ts";
import { joinPage, linkPage, loginPage, refusedPage } from "./login-pages.ts";
import type { Pages } from "./routes.ts";
import { visitorOf } from "./session.ts";

export function addLoginPages(pages: Pages, host: PageHost, door: SessionDoor): void {
  addLinkLogin(host, door);
  pages.form("/logout", async (context) => {
    await door.leave(context);
    return context.redirect("/login", 303);
  });
  if (host.oidc) addProviderLogin(host, host.oidc, door);
  addJoining(host, door);
}

/** Programs open links before the person does for whom they are: only the button of the page uses one up. */
function addLinkLogin({ api, platform: { db }, oidc }: PageHost, door: SessionDoor): void {
  api.app.get("/login", async (context) => {
    const { token: secret = "", next = "" } = context.req.query();
    const email = await readLoginLink(db, secret);
    if (email !== null)
      return answerPage(context, { title: "Log in", visitor: null, body: linkPage({ email, secret }) });
    if (await visitorOf(door, context)) return context.redirect(localPath(next));
    return secret === "" ? askIn(context, oidc, next) : refuse(context, linkNotGood, 401);
  });
  api.app.post("/login", async (context) => {
    if (door.isFromElsewhere(context)) return refuse(context, "Open the login link yourself.");
    const userId = await useLoginLink(db, (await readFields(context)).token ?? "");
    if (userId === null) return refuse(context, linkNotGood, 401);
    await door.enter(context, userId, "link");
    return context.redirect("/agents", 303);
  });
}

const linkNotGood = "This login link was used or is too old. Ask for another.";

/** In place of a page that only visitors see. */
export function askIn(context: Context<Env>, oidc: OidcLogin | null, next: string): Response {
  const body = loginPage({ provider: oidc?.name ?? null, next: localPath(next) });
  return answerPage(context, { title: "Log in", visitor: null, body }, 401);
}

function addProviderLogin({ api }: PageHost, oidc: OidcLogin, door: SessionDoor): void {
  api.app.get("/login/oidc", async (context) => {
    const { next = "", invitation = null } = context.req.query();
    const begun = await oidc.begin(context, { next, invitation });
    return begun.kind === "sent" ? context.redirect(begun.url) : refuse(context, begun.reason);
  });
  api.app.get(callbackPath, async (context) => {
    const outcome = await oidc.finish(context);
    if (outcome.kind === "refused") return refuse(context, outcome.reason);
    await door.enter(context, outcome.userId, "oidc");
    return context.redirect(outcome.next);
  });
}

/** Without a provider, whoever holds the link is who was invited. With one, its word is asked for. */
function addJoining({ api, platform, oidc }: PageHost, door: SessionDoor): void {
  const invitations = openInvitations(platform.db, () => new Date());
  api.app.get("/join", async (context) => {
    const secret = context.req.query("token") ?? "";
    const invitation = await invitations.find(secret);
    if (!invitation) return refuse(context, notGood);
    const body = joinPage({ invitation, secret, provider: oidc?.name ?? null });
    return answerPage(context, { title: "Join", visitor: null, body });
  });
  api.app.post("/join", async (context) => {
    if (door.isFromElsewhere(context)) return refuse(context, "Open the link of the invitation yourself.");
    const { token = "" } = await readFields(context);
    if (oidc) return refuse(context, `Log in with ${oidc.name} to accept an invitation.`);
    const userId = await invitations.accept({ secret: token });
    if (userId === null) return refuse(context, notGood);
    await door.enter(context, userId, "invitation");
    return context.redirect("/agents", 303);
  });
}

const notGood = "This invitation was used, revoked or is too old. Ask an administrator for another.";

const refuse = (context: Context<Env>, reason: string, status: 401 | 403 = 403): Response =>
  answerPage(context, { title: "Log in", visitor: null, body: refusedPage(reason) }, status);

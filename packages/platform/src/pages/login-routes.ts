// Login by link, identity provider or invitation, and logout.
import type { Context } from "hono";
import type { Api, Env } from "../foundation/index.ts";
import {
  callbackPath,
  localPath,
  type OidcLogin,
  openInvitations,
  readLoginLink,
  type SessionAuthenticator,
  useLoginLink,
} from "../identity/index.ts";
import { readLoginFields } from "./form.ts";
import type { PageHost, Pages } from "./host.ts";
import { answerPage } from "./layout.ts";
import { joinPage, linkPage, loginPage, refusedPage } from "./login-pages.ts";
import { visitorOf } from "./session.ts";

export function addLoginPages(pages: Pages, host: PageHost, authenticator: SessionAuthenticator): void {
  addLinkLogin(host, authenticator);
  pages.form("/logout", async (context) => {
    await authenticator.logOut(context);
    return context.redirect("/login", 303);
  });
  if (host.identity.oidc) addProviderLogin(host, host.identity.oidc, authenticator);
  addJoining(host, authenticator);
}

/** Mail scanners open links before their recipients do: only the button on the page uses the link up. */
function addLinkLogin(
  { api, platform: { db }, identity: { oidc } }: PageHost,
  authenticator: SessionAuthenticator,
): void {
  const refuse = refusalOf(api);
  api.app.get("/login", async (context) => {
    const { token: secret = "", next = "" } = context.req.query();
    const email = await readLoginLink(db, secret);
    if (email !== null)
      return answerPage(context, { title: "Log in", visitor: null, body: linkPage({ email, secret }) });
    if (await visitorOf(authenticator, context)) return context.redirect(localPath(next));
    return secret === "" ? askIn(context, oidc, next) : refuse(context, linkNotGood, 401);
  });
  api.app.post("/login", async (context) => {
    if (authenticator.isCrossSite(context)) return refuse(context, "Open the login link yourself.");
    const user = await useLoginLink(db, (await readLoginFields(context, api)).token ?? "");
    if (user === null) return refuse(context, linkNotGood, 401);
    await authenticator.logIn(context, user, "link");
    return context.redirect("/agents", 303);
  });
}

const linkNotGood = "This login link was used or has expired. Ask for another.";

/** Shown instead of a page that requires a login. */
export function askIn(context: Context<Env>, oidc: OidcLogin | null, next: string): Response {
  const body = loginPage({ provider: oidc?.name ?? null, next: localPath(next) });
  return answerPage(context, { title: "Log in", visitor: null, body }, 401);
}

function addProviderLogin({ api }: PageHost, oidc: OidcLogin, authenticator: SessionAuthenticator): void {
  const refuse = refusalOf(api);
  api.app.get("/login/oidc", async (context) => {
    const { next = "", invitation = null } = context.req.query();
    // Another site could make a browser accept an invitation, with a provider that asks nothing.
    if (invitation !== null && !authenticator.comesFromInvitation(context, invitation))
      return context.redirect(`/join?token=${encodeURIComponent(invitation)}`);
    const begun = await oidc.begin(context, { next, invitation });
    return begun.kind === "sent" ? context.redirect(begun.url) : refuse(context, begun.reason);
  });
  api.app.get(callbackPath, async (context) => {
    const outcome = await oidc.finish(context);
    if (outcome.kind === "refused") return refuse(context, outcome.reason);
    await authenticator.logIn(context, { userId: outcome.userId, isUnproved: false }, "oidc");
    return context.redirect(outcome.next);
  });
}

/** Without a provider the link alone proves the invitation; with one, the user logs in there. */
function addJoining({ api, platform, identity: { oidc } }: PageHost, authenticator: SessionAuthenticator): void {
  const refuse = refusalOf(api);
  const invitations = openInvitations(platform.db, () => new Date());
  api.app.get("/join", async (context) => {
    const secret = context.req.query("token") ?? "";
    const invitation = await invitations.find(secret);
    if (!invitation) return refuse(context, notGood);
    if (oidc) authenticator.noteInvitation(context, secret);
    const body = joinPage({ invitation, secret, provider: oidc?.name ?? null });
    return answerPage(context, { title: "Join", visitor: null, body });
  });
  api.app.post("/join", async (context) => {
    if (authenticator.isCrossSite(context)) return refuse(context, "Open the link of the invitation yourself.");
    const { token = "" } = await readLoginFields(context, api);
    if (oidc) return refuse(context, `Log in with ${oidc.name} to accept an invitation.`);
    const userId = await invitations.accept({ secret: token, proof: "link" });
    if (userId === null) return refuse(context, notGood);
    await authenticator.logIn(context, { userId, isUnproved: true }, "invitation");
    return context.redirect("/agents", 303);
  });
}

const notGood = "This invitation was used or revoked, or has expired. Ask an administrator for another.";

/** Refused logins count as wrong credentials. */
const refusalOf =
  ({ admission }: Api) =>
  (context: Context<Env>, reason: string, status: 401 | 403 = 403): Response => {
    admission.noteWrongSecret(context);
    return answerPage(context, { title: "Log in", visitor: null, body: refusedPage(reason) }, status);
  };

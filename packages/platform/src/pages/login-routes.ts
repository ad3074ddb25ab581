// Coming in and leaving: by a link, with a provider, by an invitation.
import type { Context } from "hono";
import type { Env } from "../http/index.ts";
import { openInvitations } from "../invitations/index.ts";
import { callbackPath, localPath, type OidcLogin } from "../oidc/index.ts";
import type { SessionDoor } from "../sessions/index.ts";
import type { PageHost } from "./host.ts";
import { answerPage } from "./layout.ts";
import { joinPage, loginPage, refusedPage } from "./login-pages.ts";
import type { Pages } from "./routes.ts";
import { enterByLink } from "./session.ts";

export function addLoginPages(pages: Pages, host: PageHost, door: SessionDoor): void {
  const { api, platform, oidc } = host;
  api.app.get("/login", async (context) => {
    if (isOnlyLooked(context)) return context.body(null, 503, { "cache-control": "no-store" });
    const isIn = await enterByLink(platform, door, context);
    return isIn ? context.redirect("/agents") : askIn(context, oidc, context.req.query("next") ?? "");
  });
  pages.form("/logout", async (context) => {
    await door.leave(context);
    return context.redirect("/login", 303);
  });
  if (oidc) addProviderLogin(host, oidc, door);
  addJoining(host, door);
}

/** Programs look at links before a person opens them; one that is good once must still be good then. */
const isOnlyLooked = ({ req }: Context<Env>): boolean =>
  req.method === "HEAD" || /prefetch|preview/i.test(`${req.header("sec-purpose")} ${req.header("purpose")}`);

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
    const { token } = await context.req.parseBody();
    if (oidc) return refuse(context, `Log in with ${oidc.name} to accept an invitation.`);
    const userId = await invitations.accept({ secret: typeof token === "string" ? token : "" });
    if (userId === null) return refuse(context, notGood);
    await door.enter(context, userId, "invitation");
    return context.redirect("/agents", 303);
  });
}

const notGood = "This invitation was used, revoked or is too old. Ask an administrator for another.";

const refuse = (context: Context<Env>, reason: string): Response =>
  answerPage(context, { title: "Log in", visitor: null, body: refusedPage(reason) }, 403);

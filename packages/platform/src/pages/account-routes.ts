// Connects a user's account on a source host, through the host's own login.
import type { Context } from "hono";
import type { Env } from "../foundation/index.ts";
import { addAccountCallback, connectPath, openAccountConnector } from "../repositories/index.ts";
import type { PageHost, Pages } from "./host.ts";
import { html } from "./html.ts";
import { answerPage } from "./layout.ts";
import { visitorOf } from "./session.ts";

export function addAccountPages(pages: Pages, { platform, api, identity, repositories, agents }: PageHost): void {
  const { db, vault } = platform;
  const github = repositories.accounts;
  if (github === null) return;
  const options = { store: { db, vault }, github, publicUrl: agents.publicUrl };
  const connector = openAccountConnector(options);
  pages.get(connectPath, (context, { principal: { teamId, userId } }) => connector.begin(context, { teamId, userId }));
  const userIn = async (context: Context<Env>) =>
    (await visitorOf(identity.sessionAuthenticator, context))?.principal.userId ?? null;
  addAccountCallback(api.app, { ...options, userIn }, (context, outcome) => {
    const text = outcome.kind === "connected" ? `Your account ${outcome.login} is connected.` : outcome.reason;
    const body = html`<section class="card"><h1>Accounts</h1><p>${text}</p><p><a href="/accounts">Go on</a></p></section>`;
    return answerPage(context, { title: "Accounts", visitor: null, body }, outcome.kind === "connected" ? 200 : 400);
  });
}

// The page of a user's accounts on source hosts.
import type { Context } from "hono";
import { ApiError, type Env } from "../foundation/index.ts";
import type { Principal } from "../identity/index.ts";
import {
  type Account,
  addAccountCallback,
  listAccounts,
  openAccountConnector,
  removeAccount,
} from "../repositories/index.ts";
import type { PageHost, Pages } from "./host.ts";
import { type Html, html } from "./html.ts";
import { answerPage, moment } from "./layout.ts";
import { button } from "./parts.ts";
import { visitorOf } from "./session.ts";

export function addAccountPages(pages: Pages, { platform, api, identity, repositories, agents }: PageHost): void {
  const { db, vault } = platform;
  const github = repositories.accounts;
  pages.get("/accounts", async (context, visitor) => {
    const accounts = await listAccounts(db, userOf(visitor.principal));
    const body = accountsPage({ accounts, host: github?.host ?? null, token: visitor.formToken });
    return answerPage(context, { title: "Accounts", visitor, body });
  });
  pages.form("/accounts/:host/disconnect", async (context, visitor) => {
    await removeAccount(db, { userId: userOf(visitor.principal), host: context.req.param("host") ?? "" });
    return context.redirect("/accounts", 303);
  });
  if (github === null) return;
  const options = { store: { db, vault }, github, publicUrl: agents.publicUrl };
  const connector = openAccountConnector(options);
  pages.get("/accounts/github/connect", (context, { principal }) =>
    connector.begin(context, { teamId: principal.teamId, userId: userOf(principal) }),
  );
  const userIn = async (context: Context<Env>) =>
    (await visitorOf(identity.sessionAuthenticator, context))?.principal.userId ?? null;
  addAccountCallback(api.app, { ...options, userIn }, (context, outcome) => {
    const text = outcome.kind === "connected" ? `Your account ${outcome.login} is connected.` : outcome.reason;
    const body = html`<section class="card"><h1>Accounts</h1><p>${text}</p><p><a href="/accounts">Go on</a></p></section>`;
    return answerPage(context, { title: "Accounts", visitor: null, body }, outcome.kind === "connected" ? 200 : 400);
  });
}

function userOf(principal: Principal): number {
  if (principal.kind === "user") return principal.userId;
  throw new ApiError("forbidden", "Only users have accounts on source hosts.");
}

interface AccountsView {
  accounts: Account[];
  /** The host where an account can be connected. */
  host: string | null;
  token: string;
}

const accountsPage = ({ accounts, host, token }: AccountsView): Html => html`
<section class="card"><h1>Accounts</h1>
<p>Agents that work for you reach no repository there that you cannot push to yourself, and ask you for reviews.</p>
${host === null ? html`<p>No source host is configured on which accounts can be connected.</p>` : html`<p><a href="/accounts/github/connect">Connect an account on ${host}</a></p>`}
</section>
<table><thead><tr><th>Host</th><th>Account</th><th>Connected</th><th></th></tr></thead>
<tbody>${accounts.map((account) => accountRow(account, token))}</tbody></table>`;

const accountRow = ({ host, login, connectedAt }: Account, token: string): Html => html`<tr>
<td>${host}</td><td>${login}</td><td>${moment(connectedAt)}</td>
<td>${button(`/accounts/${host}/disconnect`, "Disconnect", token)}</td></tr>`;

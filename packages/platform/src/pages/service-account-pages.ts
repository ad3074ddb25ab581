// The page of a team's service accounts, each with its keys.
import type { KeyEntry, ServiceAccountEntry } from "../identity/index.ts";
import { type Html, html } from "./html.ts";
import { type FreshKey, freshKey, keyForm, keyTable } from "./key-pages.ts";
import { hiddenToken, moment } from "./layout.ts";

export interface ServiceAccountsView {
  accounts: ServiceAccountEntry[];
  /** Keys of the whole team. */
  keys: KeyEntry[];
  fresh: FreshKey | null;
  token: string;
}

export const serviceAccountsPage = ({ accounts, keys, fresh, token }: ServiceAccountsView): Html => html`
<div class="title"><h1>Service accounts</h1><p class="facts"><a href="/members">Members</a> <a href="/keys">Keys</a></p></div>
<p class="soft">They are for programs: they belong to the team, and their keys stay valid when members leave.</p>
${fresh && freshKey(fresh)}
<section class="card"><h2>New service account</h2>
<form method="post" action="/service-accounts" class="row">${hiddenToken(token)}
<label class="wide">Name<input type="text" name="name" required maxlength="100" autocomplete="off"></label>
<button>Make a service account</button></form></section>
${accounts.length === 0 && html`<p class="empty">There are no service accounts yet.</p>`}
${accounts.map((account) => accountSection(account, keys, token))}`;

const accountSection = (
  account: ServiceAccountEntry,
  keys: KeyEntry[],
  token: string,
): Html => html`<section class="card">
<div class="title"><h2>${account.name}</h2><p class="facts">since ${moment(account.createdAt)}</p></div>
${keyTable(
  keys.filter(({ owner }) => owner.kind === "service_account" && owner.name === account.name),
  token,
  null,
)}
<details><summary>New key</summary>${keyForm(`/service-accounts/${account.id}/keys`, token)}</details>
</section>`;

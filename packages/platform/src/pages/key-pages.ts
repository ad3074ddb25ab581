// The page of keys: the visitor's own, and for administrators those of the team.
import type { KeyEntry, RotatedKey } from "../identity/index.ts";
import { type Html, html } from "./html.ts";
import { hiddenToken, moment } from "./layout.ts";
import { badge } from "./parts.ts";

export interface KeysView {
  keys: KeyEntry[];
  fresh: FreshKey | null;
  token: string;
  isAdmin: boolean;
  ownId: number;
}

/** Shown only once. */
export interface FreshKey {
  key: string;
  /** Expiry of the key it replaces. */
  formerUntil: RotatedKey["formerUntil"] | null;
}

export const keysPage = ({ keys, fresh, token, isAdmin, ownId }: KeysView): Html => html`
<div class="title"><h1>Keys</h1>
${isAdmin && html`<p class="facts"><a href="/service-accounts">Service accounts</a></p>`}</div>
${fresh && freshKey(fresh)}
<section class="card"><h2>New key of your own</h2>
${keyForm("/keys", token)}
</section>
${keyTable(keys, token, ownId)}`;

export const freshKey = ({ key, formerUntil }: FreshKey): Html => html`<section class="card fresh">
<h2>The key</h2><p>It is shown only once. Store it as a secret.</p>
<p><code class="key">${key}</code></p>
${formerUntil && html`<p>The previous key is valid until ${moment(formerUntil)}.</p>`}
</section>`;

/** What the form offers, in days. */
export const lifetimes = [
  ["", "Never"],
  ["7", "In 7 days"],
  ["30", "In 30 days"],
  ["90", "In 90 days"],
  ["365", "In a year"],
] as const;

export const keyForm = (
  action: string,
  token: string,
): Html => html`<form method="post" action="${action}" class="row">${hiddenToken(token)}
<label class="wide">Name<input type="text" name="name" required maxlength="100" autocomplete="off"></label>
<label>Ends<select name="days">${lifetimes.map(([days, text]) => html`<option value="${days}">${text}</option>`)}</select></label>
<label>May<select name="access"><option value="all">read and write</option><option value="read">only read</option></select></label>
<button>Make a key</button></form>`;

/** The user who rotates a key sees the new one, so only its owner may: no other user acts as that user. */
export const mayRotate = ({ owner }: KeyEntry, userId: number | null): boolean =>
  owner.kind === "service_account" || owner.userId === userId;

export const keyTable = (keys: KeyEntry[], token: string, ownId: number | null): Html =>
  keys.length === 0
    ? html`<p class="empty">There are no keys yet.</p>`
    : html`<table class="stack">
<thead><tr><th>Name</th><th>Owner</th><th>Made</th><th>Last used</th><th>Ends</th><th></th></tr></thead>
<tbody>${keys.map((key) => keyRow(key, token, ownId))}</tbody>
</table>`;

const keyRow = (key: KeyEntry, token: string, ownId: number | null): Html => html`<tr>
<td data-label="Name">${key.name}<br><code class="soft">plt_${key.id}_…</code></td>
<td data-label="Owner">${key.owner.kind === "user" ? key.owner.email : key.owner.name}</td>
<td data-label="Made">${moment(key.createdAt)}</td>
<td data-label="Last used">${key.lastUsedAt ? moment(key.lastUsedAt) : html`<span class="soft">never</span>`}</td>
<td data-label="Ends">${ending(key)}</td>
<td class="actions">${isOver(key) ? null : actions(key, token, ownId)}</td>
</tr>`;

const isOver = ({ revokedAt, expiresAt }: KeyEntry): boolean =>
  revokedAt !== null || (expiresAt !== null && expiresAt.getTime() <= Date.now());

function ending(key: KeyEntry): Html {
  if (key.revokedAt) return badge("revoked");
  if (isOver(key)) return badge("expired");
  return html`${key.expiresAt ? moment(key.expiresAt) : html`<span class="soft">never</span>`}${key.successorId !== null && html`<br><span class="soft">replaced by plt_${key.successorId}_…</span>`}`;
}

const actions = (
  key: KeyEntry,
  token: string,
  ownId: number | null,
): Html => html`<details><summary>Change</summary><div class="menu">
${
  key.successorId === null &&
  mayRotate(key, ownId) &&
  html`<form method="post" action="/keys/${key.id}/rotate">${hiddenToken(token)}
<label>The previous key is valid for<select name="hours"><option value="24">another day</option><option value="168">another week</option><option value="0">no longer</option></select></label>
<button class="quiet">Rotate</button></form>`
}
<form method="post" action="/keys/${key.id}/revoke">${hiddenToken(token)}<button class="quiet danger">Revoke</button></form>
</div></details>`;

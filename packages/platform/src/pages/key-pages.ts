// Keys of the team as a page.
import type { KeyEntry } from "../principals/index.ts";
import { badge, button } from "./agent-pages.ts";
import { type Html, html } from "./html.ts";
import { hiddenToken, moment } from "./layout.ts";

export interface KeysView {
  keys: KeyEntry[];
  /** Shown this once. */
  fresh: string | null;
  token: string;
}

export const keysPage = ({ keys, fresh, token }: KeysView): Html => html`
<section class="card"><h1>New key</h1>
<form method="post" action="/keys" class="row">${hiddenToken(token)}
<label>Name<input type="text" name="name" required maxlength="100"></label><button>Make a key</button></form>
${fresh && html`<p>This is the key. It is shown this once: <code class="key">${fresh}</code></p>`}
</section>
<h2>Keys</h2>
<table>
<thead><tr><th>Name</th><th>Begins with</th><th>Owner</th><th>Made</th><th></th></tr></thead>
<tbody>${keys.map((key) => keyRow(key, token))}</tbody>
</table>`;

const keyRow = (key: KeyEntry, token: string): Html => html`<tr>
<td>${key.name}</td><td><code>plt_${key.id}_…</code></td>
<td>${key.owner.kind === "user" ? key.owner.email : key.owner.name}</td>
<td>${moment(key.createdAt)}</td>
<td>${key.revokedAt ? badge("revoked") : button(`/keys/${key.id}/revoke`, "Revoke", token)}</td>
</tr>`;

// The part of the settings page about credentials for git hosts, for administrators. Values are entered and never shown.
import { type Credential, CredentialKind } from "@agentcli/protocol/api";
import { ApiError } from "../foundation/index.ts";
import { deleteCredential, putCredential } from "../repositories/index.ts";
import type { Fields } from "./form.ts";
import type { PageHost, Pages } from "./host.ts";
import { type Html, html } from "./html.ts";
import { hiddenToken, moment } from "./layout.ts";
import { requireAdmin } from "./session.ts";

export function addCredentialForms(pages: Pages, { platform }: PageHost): void {
  pages.form("/settings/credentials", async (context, visitor, fields) => {
    requireAdmin(visitor);
    const { host = "", user = "", value = "" } = fields;
    const request = { host: host.trim(), kind: kindIn(fields), value, ...(user !== "" && { user }) };
    await putCredential(platform, visitor.principal.teamId, request);
    return context.redirect("/settings", 303);
  });
  pages.form("/settings/credentials/remove", async (context, visitor, fields) => {
    requireAdmin(visitor);
    await deleteCredential(platform, visitor.principal.teamId, { host: fields.host ?? "", kind: kindIn(fields) });
    return context.redirect("/settings", 303);
  });
}

function kindIn({ kind }: Fields): CredentialKind {
  const read = CredentialKind.safeParse(kind);
  if (read.success) return read.data;
  throw new ApiError("validation_error", "Choose the kind of the credential.");
}

const words: Record<CredentialKind, string> = {
  token: "Token (https)",
  basic: "User name and password (https)",
  ssh_key: "Private key (ssh)",
  known_hosts: "Host keys (ssh)",
};

export const credentialSection = (credentials: Credential[], token: string): Html => html`
<section class="card"><h2>Credentials for git hosts</h2>
<p>Agents of the team use them for private repositories on these hosts. They are encrypted, and not shown again.</p>
${credentials.length > 0 && html`<table><thead><tr><th>Host</th><th>Kind</th><th>Set</th><th></th></tr></thead><tbody>${credentials.map((one) => credentialRow(one, token))}</tbody></table>`}
<form method="post" action="/settings/credentials">${hiddenToken(token)}
<label>Host<input type="text" name="host" required maxlength="300" placeholder="git.example.com" autocomplete="off"></label>
<label>Kind<select name="kind">${CredentialKind.options.map(
  (kind) => html`<option value="${kind}">${words[kind]}</option>`,
)}</select></label>
<label>User name<input type="text" name="user" maxlength="200" autocomplete="off"></label>
<label class="wide">Value<textarea name="value" required rows="3" autocomplete="off" spellcheck="false"></textarea></label>
<button>Save</button></form></section>`;

const credentialRow = ({ host, kind, user, fingerprints = [], updatedAt }: Credential, token: string): Html => html`<tr>
<td>${host}</td><td>${[words[kind], user, ...fingerprints].filter(Boolean).join(" ")}</td><td>${moment(updatedAt)}</td>
<td><form method="post" action="/settings/credentials/remove">${hiddenToken(token)}
<input type="hidden" name="host" value="${host}"><input type="hidden" name="kind" value="${kind}">
<button class="quiet">Remove</button></form></td></tr>`;

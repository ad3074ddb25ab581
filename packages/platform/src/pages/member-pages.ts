// The page of a team's members and open invitations.
import type { InvitationEntry, Presence, UserEntry } from "../identity/index.ts";
import { type Html, html } from "./html.ts";
import { hiddenToken, moment } from "./layout.ts";
import { badge, button } from "./parts.ts";

export interface MembersView {
  users: UserEntry[];
  presence: Map<number, Presence>;
  invitations: InvitationEntry[];
  ownId: number;
  /** Null if the visitor may only read. */
  token: string | null;
  hasProvider: boolean;
  /** Shown only once. */
  fresh: Fresh | null;
}

export interface Fresh {
  email: string;
  link: string;
  /** How long the link is valid; null for half an hour. */
  days: number | null;
}

export const membersPage = (view: MembersView): Html => html`
<div class="title"><h1>Members</h1>
${view.token !== null && html`<p class="facts"><a href="/service-accounts">Service accounts</a></p>`}</div>
${view.fresh && freshLink(view.fresh)}
${view.token !== null && inviteForm(view.token)}
<table class="stack">
<thead><tr><th>Member</th><th>Role</th><th>Last seen</th><th>Since</th>${view.token !== null && html`<th></th>`}</tr></thead>
<tbody>${view.users.map((user) => memberRow(user, view))}</tbody>
</table>
${view.token !== null && invitationTable(view.invitations, view.token)}`;

const freshLink = ({ email, link, days }: Fresh): Html => html`<section class="card fresh">
<h2>${days === null ? "Login link" : "Invitation"} for ${email}</h2>
<p>Send it to them. It is shown this once, works once, and is good for ${days === null ? "half an hour" : `${days} days`}.</p>
<p><code class="key">${link}</code></p>
</section>`;

const inviteForm = (token: string): Html => html`<section class="card"><h2>Invite a member</h2>
<form method="post" action="/invitations" class="row">${hiddenToken(token)}
<label class="wide">E-mail address<input type="email" name="email" required maxlength="254" autocomplete="off"></label>
<label>Role<select name="role"><option value="member">Member</option><option value="admin">Administrator</option></select></label>
<button>Invite</button></form></section>`;

function memberRow(user: UserEntry, view: MembersView): Html {
  const presence = view.presence.get(user.id);
  const isOwn = user.id === view.ownId;
  return html`<tr>
<td data-label="Member">${user.email}${isOwn && html` <span class="soft">(you)</span>`}</td>
<td data-label="Role">${badge(user.role)}</td>
<td data-label="Last seen">${presence ? html`${moment(presence.lastSeenAt)}<br><span class="soft">${sessionsText(presence.sessions)}</span>` : html`<span class="soft">not logged in</span>`}</td>
<td data-label="Since">${moment(user.createdAt)}</td>
${view.token !== null && html`<td class="actions">${memberActions(user, presence, view.token, view.hasProvider)}</td>`}
</tr>`;
}

const sessionsText = (count: number): string => (count === 1 ? "1 session" : `${count} sessions`);

function memberActions(user: UserEntry, presence: Presence | undefined, token: string, hasProvider: boolean): Html {
  const path = `/members/${user.id}`;
  const other = user.role === "admin" ? "member" : "admin";
  return html`<details><summary>Change</summary><div class="menu">
<form method="post" action="${path}/role">${hiddenToken(token)}<input type="hidden" name="role" value="${other}">
<button class="quiet">Make ${other === "admin" ? "an administrator" : "a member"}</button></form>
${!hasProvider && button(`${path}/login-link`, "Make a login link", token)}
${presence && button(`${path}/end-sessions`, "End all sessions", token)}
<form method="post" action="${path}/remove">${hiddenToken(token)}<button class="quiet danger">Remove from the team</button></form>
<p class="hint">Removing ends keys and sessions. What they made stays.</p>
</div></details>`;
}

const invitationTable = (invitations: InvitationEntry[], token: string): Html => html`<h2>Open invitations</h2>
${
  invitations.length === 0
    ? html`<p class="empty">There are no open invitations.</p>`
    : html`<table class="stack">
<thead><tr><th>Address</th><th>Role</th><th>Invited</th><th>Good until</th><th></th></tr></thead>
<tbody>${invitations.map(
        (invitation) => html`<tr>
<td data-label="Address">${invitation.email}</td><td data-label="Role">${badge(invitation.role)}</td>
<td data-label="Invited">${moment(invitation.createdAt)}</td><td data-label="Good until">${moment(invitation.expiresAt)}</td>
<td class="actions">${button(`/invitations/${invitation.id}/revoke`, "Revoke", token)}</td></tr>`,
      )}</tbody>
</table>`
}`;

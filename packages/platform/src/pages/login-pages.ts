// Pages for visitors who are not logged in.
import type { InvitationEntry } from "../identity/index.ts";
import { type Html, html } from "./html.ts";
import { hiddenToken, moment } from "./layout.ts";

export interface LoginView {
  /** Display name of the identity provider; null if there is none. */
  provider: string | null;
  next: string;
}

export const loginPage = ({ provider, next }: LoginView): Html => html`<section class="card narrow"><h1>Log in</h1>
${provider !== null && html`<p><a class="action" href="/login/oidc?next=${encodeURIComponent(next)}">Log in with ${provider}</a></p>`}
<p class="${provider === null ? "" : "hint"}">${provider === null ? "Open" : "Or open"} a login link. An administrator creates one on the server: <code>platform login-link</code></p>
</section>`;

export const linkPage = ({ email, secret }: { email: string; secret: string }): Html =>
  html`<section class="card narrow"><h1>Log in</h1>
<form method="post" action="/login">${hiddenToken(secret)}<button>Log in as ${email}</button></form>
<p class="hint">The link is good for one browser, once.</p></section>`;

export interface JoinView {
  invitation: InvitationEntry;
  secret: string;
  provider: string | null;
}

export const joinPage = ({ invitation, secret, provider }: JoinView): Html => html`<section class="card narrow">
<h1>Join ${invitation.team}</h1>
<p>${invitation.email} is invited to the team <strong>${invitation.team}</strong> as ${invitation.role === "admin" ? "an administrator" : "a member"}.</p>
${provider === null ? joinForm(secret) : html`<p><a class="action" href="/login/oidc?invitation=${encodeURIComponent(secret)}">Join with ${provider}</a></p>`}
<p class="hint">${provider !== null && html`Log in there as ${invitation.email}. `}The invitation is good for one person, until ${moment(invitation.expiresAt)}.</p>
</section>`;

const joinForm = (secret: string): Html =>
  html`<form method="post" action="/join">${hiddenToken(secret)}<button>Join</button></form>`;

export const refusedPage = (reason: string): Html => html`<section class="card narrow"><h1>Not logged in</h1>
<p class="problem">${reason}</p>
<p><a class="action" href="/login">Log in</a></p></section>`;

// The layout of all pages.
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Env } from "../foundation/index.ts";
import { type Html, html } from "./html.ts";
import type { Visitor } from "./session.ts";

export interface Page {
  title: string;
  body: Html;
  visitor: Visitor | null;
}

/** Nothing is loaded from other origins, and no site may frame the pages. */
const policy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "media-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

export const pageHeaders = {
  "content-security-policy": policy,
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cache-control": "no-store",
};

export function answerPage(context: Context<Env>, page: Page, status: ContentfulStatusCode = 200): Response {
  return context.html(render(page, context.get("notice")).markup, status, pageHeaders);
}

function render({ title, body, visitor }: Page, notice: string | undefined): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · platform</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/style.css">
</head>
<body>
<header>
<a class="brand" href="/agents">platform</a>
${visitor && navigation(visitor)}
</header>
<main>
${notice && html`<p class="notice">${notice}</p>`}
${body}
</main>
</body>
</html>
`;
}

export const navigation = ({ principal, formToken }: Visitor): Html => html`<nav>
<a href="/agents">Agents</a>
<a href="/repositories">Repositories</a>
<a href="/members">Members</a>
<a href="/keys">Keys</a>
<a href="/accounts">Accounts</a>
<a href="/settings">Settings</a>
<a href="/docs">Docs</a>
</nav>
<form method="post" action="/logout" class="who">
${hiddenToken(formToken)}
<a href="/sessions" title="Your sessions">${principal.email}</a>
<button class="quiet">Leave</button>
</form>`;

export const hiddenToken = (token: string): Html => html`<input type="hidden" name="token" value="${token}">`;

/** A time formatted independently of locale. */
export const moment = (at: Date | string): Html => {
  const iso = typeof at === "string" ? at : at.toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace("T", " ")} UTC</time>`;
};

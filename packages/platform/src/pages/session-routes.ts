// The page of the visitor's sessions.
import { ApiError } from "../foundation/index.ts";
import type { SessionEntry } from "../identity/index.ts";
import type { PageHost, Pages } from "./host.ts";
import { type Html, html } from "./html.ts";
import { answerPage, moment } from "./layout.ts";
import { badge, button } from "./parts.ts";

export function addSessionPages(pages: Pages, { identity: { sessions } }: PageHost): void {
  pages.get("/sessions", async (context, visitor) => {
    const body = sessionsPage({
      sessions: await sessions.list(visitor.principal.userId),
      ownId: visitor.id,
      token: visitor.formToken,
    });
    return answerPage(context, { title: "Sessions", visitor, body });
  });
  pages.form("/sessions/:id/end", async (context, { principal }) => {
    const ended = await sessions.endOf(principal.userId, { id: context.req.param("id") ?? "" });
    if (ended === 0) throw new ApiError("not_found", "There is no such session, or it has ended.");
    return context.redirect("/sessions", 303);
  });
  pages.form("/sessions/end-others", async (context, { id: ownId, principal }) => {
    const others = (await sessions.list(principal.userId)).filter(({ id }) => id !== ownId);
    for (const { id } of others) await sessions.endOf(principal.userId, { id });
    return context.redirect("/sessions", 303);
  });
}

interface SessionsView {
  sessions: SessionEntry[];
  ownId: string;
  token: string;
}

const sessionsPage = ({ sessions, ownId, token }: SessionsView): Html => html`
<div class="title"><h1>Your sessions</h1>
${sessions.length > 1 && button("/sessions/end-others", "End all others", token)}</div>
<table class="stack">
<thead><tr><th>Logged in</th><th>By</th><th>Last seen</th><th>Ends</th><th></th></tr></thead>
<tbody>${sessions.map(
  (session) => html`<tr>
<td data-label="Logged in">${moment(session.createdAt)}</td>
<td data-label="By">${methods[session.method]}</td>
<td data-label="Last seen">${moment(session.lastSeenAt)}</td>
<td data-label="Ends">${moment(session.expiresAt)}</td>
<td class="actions">${session.id === ownId ? badge("this one") : button(`/sessions/${session.id}/end`, "End", token)}</td>
</tr>`,
)}</tbody></table>`;

const methods: Record<SessionEntry["method"], string> = {
  link: "a login link",
  oidc: "the provider",
  invitation: "an invitation",
};

// The page of a team's settings: everybody reads them, administrators change them.
import type { FollowUps } from "../db/index.ts";
import { ApiProblem } from "../http/index.ts";
import { followUps } from "../principals/index.ts";
import type { PageHost } from "./host.ts";
import { type Html, html } from "./html.ts";
import { answerPage, hiddenToken } from "./layout.ts";
import type { Pages } from "./routes.ts";
import { isAdmin, requireAdmin } from "./session.ts";

export function addSettingsPages(pages: Pages, { platform: { db } }: PageHost): void {
  pages.get("/settings", async (context, visitor) => {
    const team = await db
      .selectFrom("teams")
      .select(["name", "follow_ups"])
      .where("id", "=", visitor.principal.teamId)
      .executeTakeFirstOrThrow();
    const body = settingsPage({
      team: team.name,
      followUps: team.follow_ups,
      token: isAdmin(visitor) ? visitor.formToken : null,
    });
    return answerPage(context, { title: "Settings", visitor, body });
  });

  pages.form("/settings/follow-ups", async (context, visitor, { followUps: wanted = "" }) => {
    requireAdmin(visitor);
    const follow_ups = followUps.find((value) => value === wanted);
    if (follow_ups === undefined)
      throw new ApiProblem("validation_error", `Team follow-ups are one of ${followUps.join(", ")}.`);
    await db.updateTable("teams").set({ follow_ups }).where("id", "=", visitor.principal.teamId).execute();
    return context.redirect("/settings", 303);
  });
}

interface SettingsView {
  team: string;
  followUps: FollowUps;
  /** Null where the visitor may only read. */
  token: string | null;
}

const words: Record<FollowUps, string> = {
  disabled: "Owners only",
  service_accounts: "Agents of service accounts take them from the whole team",
  all: "All agents take them from the whole team",
};

const settingsPage = ({ team, followUps: chosen, token }: SettingsView): Html => html`
<section class="card"><h1>Settings of ${team}</h1>
<h2>Team follow-ups</h2>
<p>Everybody in the team reads each other's agents, as far as they can read the repositories. Who may send them messages:</p>
${
  token === null
    ? html`<p><strong>${words[chosen]}.</strong> Administrators can change this.</p>`
    : html`<form method="post" action="/settings/follow-ups" class="row">${hiddenToken(token)}
<label>Follow-ups<select name="followUps">${followUps.map(
        (value) => html`<option value="${value}"${value === chosen && html` selected`}>${words[value]}</option>`,
      )}</select></label>
<button>Save</button></form>`
}
</section>`;

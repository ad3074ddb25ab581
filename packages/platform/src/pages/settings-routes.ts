// The page of a team's settings: all members read them, administrators change them.
import { ApiError, type FollowUps } from "../foundation/index.ts";
import { followUps, setFollowUps } from "../identity/index.ts";
import { listCredentials } from "../repositories/index.ts";
import { addCredentialForms, credentialSection } from "./credential-pages.ts";
import type { PageHost, Pages } from "./host.ts";
import { type Html, html } from "./html.ts";
import { answerPage, hiddenToken } from "./layout.ts";
import { isAdmin, requireAdmin } from "./session.ts";

export function addSettingsPages(pages: Pages, host: PageHost): void {
  const { db, vault } = host.platform;
  addCredentialForms(pages, host);
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
    if (!isAdmin(visitor)) return answerPage(context, { title: "Settings", visitor, body });
    const credentials = await listCredentials({ db, vault }, visitor.principal.teamId);
    const whole = html`${body}${credentialSection(credentials, visitor.formToken)}`;
    return answerPage(context, { title: "Settings", visitor, body: whole });
  });

  pages.form("/settings/follow-ups", async (context, visitor, { followUps: selected = "" }) => {
    requireAdmin(visitor);
    const follow_ups = followUps.find((value) => value === selected);
    if (follow_ups === undefined)
      throw new ApiError("validation_error", `Team follow-ups are one of ${followUps.join(", ")}.`);
    await setFollowUps(db, visitor.principal.teamId, follow_ups);
    return context.redirect("/settings", 303);
  });
}

interface SettingsView {
  team: string;
  followUps: FollowUps;
  /** Null if the visitor may only read. */
  token: string | null;
}

const words: Record<FollowUps, string> = {
  disabled: "Owners only",
  service_accounts: "Agents of service accounts accept them from the whole team",
  all: "All agents accept them from the whole team",
};

const settingsPage = ({ team, followUps: current, token }: SettingsView): Html => html`
<section class="card"><h1>Settings of ${team}</h1>
<h2>Team follow-ups</h2>
<p>All members of the team can read each other's agents if they can read the repositories. Who may send follow-ups:</p>
${
  token === null
    ? html`<p><strong>${words[current]}.</strong> Administrators can change this.</p>`
    : html`<form method="post" action="/settings/follow-ups" class="row">${hiddenToken(token)}
<label>Follow-ups<select name="followUps">${followUps.map(
        (value) => html`<option value="${value}"${value === current && html` selected`}>${words[value]}</option>`,
      )}</select></label>
<button>Save</button></form>`
}
</section>`;

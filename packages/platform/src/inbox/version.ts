// A tag of what the inbox shows: the same tag, the same inbox. It opens nothing that is sealed, so that a client that asks
// every few seconds costs little.
import { createHash } from "node:crypto";
import type { OverviewHost } from "../agents/index.ts";
import { readPullRequestLinks } from "../repositories/index.ts";
import { shownDrafts, shownProposals } from "./approvals.ts";
import type { UserPrincipal } from "./item.ts";
import { endedRuns, shownAlerts } from "./read.ts";

export async function readInboxTag({ platform: { db }, githost }: OverviewHost, user: UserPrincipal): Promise<string> {
  const runs = await endedRuns(db, user)
    .select(["agents.id", "agents.updated_at as agent_updated_at", "runs.status", "runs.updated_at"])
    .execute();
  const alerts = await shownAlerts(db, user).select("automations.name").execute();
  const drafts = await shownDrafts(db, user).execute();
  const proposals = await shownProposals(db, user).execute();
  const agents = runs.map(({ id }) => id);
  const handoffs =
    agents.length === 0
      ? []
      : await db
          .selectFrom("handoffs")
          .select(["agent_id", "branch", "pushed_commit", "pr_url"])
          .where("agent_id", "in", agents)
          .orderBy("agent_id")
          .orderBy("repo_url")
          .execute();
  const urls = handoffs.flatMap(({ pr_url }) => pr_url ?? []);
  const pulls = await readPullRequestLinks({ db, githost }, user.teamId, urls);
  const shown = JSON.stringify([user.userId, runs, alerts, drafts, proposals, handoffs, [...pulls.values()]]);
  return `"${createHash("sha256").update(shown).digest("base64url").slice(0, 22)}"`;
}

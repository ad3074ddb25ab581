// Pull requests that agents of a team made, as events name them.
import type { Queries } from "../../foundation/index.ts";
import type { AutomationHost } from "../host.ts";
import { type CausedEvent, isOf } from "./cause.ts";

export interface AgentPull {
  agentId: string;
  teamId: number;
  /** Whose agent it is; null: a service account's. */
  userId: number | null;
  repoUrl: string;
  /** Without its scheme. */
  storedUrl: string;
  number: number;
  branch: string;
  base: string;
  pushedCommit: string | null;
}

export interface PullRequestSearch extends CausedEvent {
  by: { branch: string } | { url: string };
}

/** Null for one that no agent of the team made, or one that is archived. */
export async function findPull(
  { shownRepository }: Pick<AutomationHost, "shownRepository">,
  tx: Queries,
  { source, event, by }: PullRequestSearch,
): Promise<AgentPull | null> {
  const rows = await tx
    .selectFrom("handoffs")
    .innerJoin("agents", "agents.id", "handoffs.agent_id")
    .selectAll("handoffs")
    .select(["agents.team_id", "agents.user_id"])
    .where("agents.team_id", "=", source.team_id)
    .where("agents.archived_at", "is", null)
    .where("pr_url", "is not", null)
    .where("branch" in by ? "branch" : "pr_url", "=", "branch" in by ? by.branch : by.url)
    .execute();
  const row = rows.find(({ repo_url }) => isOf(event, repo_url, shownRepository));
  const [, number] = /\/(\d+)$/.exec(row?.pr_url ?? "") ?? [];
  if (!row || number === undefined) return null;
  return {
    ...{
      agentId: row.agent_id,
      teamId: row.team_id,
      userId: row.user_id,
      repoUrl: event.repositoryUrl,
      storedUrl: row.repo_url,
    },
    ...{ number: Number(number), branch: row.branch, base: row.base_branch, pushedCommit: row.pushed_commit },
  };
}

// Pull requests as links: those of this host with their page and state, others with their address only.
import type { PullRequestLink } from "@agentcli/protocol/api";
import type { Queries } from "../../foundation/index.ts";
import type { GitHost } from "./host.ts";

export interface LinkContext {
  db: Queries;
  githost: Pick<GitHost, "readPullRequestUrl">;
}

/** By address. A pull request of another team's repository is only an address. */
export async function readPullRequestLinks(
  { db, githost }: LinkContext,
  teamId: number,
  urls: string[],
): Promise<Map<string, PullRequestLink>> {
  const own = urls.flatMap((url) => {
    const found = githost.readPullRequestUrl(url);
    return found ? [{ url, ...found }] : [];
  });
  if (own.length === 0) return new Map();
  const names = [...new Set(own.map(({ name }) => name))];
  const rows = await db
    .selectFrom("pull_requests")
    .innerJoin("hosted_repositories", "hosted_repositories.id", "pull_requests.repository_id")
    .select(["hosted_repositories.name", "pull_requests.number", "pull_requests.state", "pull_requests.draft"])
    .where("hosted_repositories.team_id", "=", teamId)
    .where("hosted_repositories.name", "in", names)
    .where("pull_requests.number", "in", [...new Set(own.map(({ number }) => number))])
    .execute();
  return new Map(
    own.flatMap(({ url, name, number }) => {
      const row = rows.find((one) => one.name === name && one.number === number);
      if (!row) return [];
      const state = row.state === "open" && row.draft ? ("draft" as const) : row.state;
      return [[url, { url, page: `/repositories/${name}/pulls/${number}`, number, state }] as const];
    }),
  );
}

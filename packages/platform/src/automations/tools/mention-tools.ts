// What an agent that a person mentioned in a comment may do: answer there, as the bot.
import type { Tool } from "@agentcli/engine";
import type { AutomationHost } from "../host.ts";
import { commentTool } from "./pull-request-tools.ts";

export interface MentionedRun {
  agentId: string;
  teamId: number;
  repositories: { url: string }[];
  /** Removes secrets from what leaves the run. */
  scrub(text: string): string;
}

/** On pull requests of the repository that it was last mentioned in. */
export async function mentionTools(host: AutomationHost, run: MentionedRun): Promise<Tool[]> {
  // Mentions are in repositories, and those are among the agent's.
  if (run.repositories.length === 0) return [];
  const mention = await host.platform.db
    .selectFrom("mentions")
    .select("repo_url")
    .where("agent_id", "=", run.agentId)
    .where("team_id", "=", run.teamId)
    .where("status", "<>", "refused")
    .where("kind", "=", "pull_request")
    .orderBy("created_at", "desc")
    .executeTakeFirst();
  if (mention === undefined) return [];
  const { repo_url: url } = mention;
  const tool = commentTool({
    open: async () => (await host.sources.open(run.teamId, url)).pullRequests,
    urlOf: (number) => host.pullRequestUrl(url, number),
    isOwn: async () => true,
    approvals: "none",
    author: `agent:${run.agentId}`,
    scrub: run.scrub,
  });
  return [tool];
}

// `POST /v1/agents/{id}/pull-requests`: the pull requests of an agent that was created without any.
import { z } from "zod";
import { type Api, ApiError, type Forwarding, type PlatformContext, schema } from "../../foundation/index.ts";
import { type HandedOff, type Handoff, type ReopenedHandoff, reopenHandoffs } from "../../repositories/index.ts";
import { findAgent, lockAgent } from "../store.ts";
import type { ListedAgent } from "../views/views.ts";
import type { AgentHost } from "./agents.ts";

export interface PullRequestHost extends Pick<AgentHost, "access" | "platform"> {
  handoff: Handoff;
  forwarding: Forwarding;
  /** Null: this server. */
  findHolder(agentId: string): Promise<string | null>;
}

/** Answered by the server that has the files. */
export function addPullRequestRoute(
  api: Api,
  { access, platform, handoff, forwarding, findHolder }: PullRequestHost,
): void {
  api.route(
    {
      method: "post",
      path: "/v1/agents/{id}/pull-requests",
      summary: "Open draft pull requests with what an agent has pushed, and with later runs keep them up to date",
      tag: "Agents",
      scope: "agents:write",
      sharing: "manage",
      params: () => z.object({ id: z.string() }),
      answer: { status: 200, schema: schema("runs", "OpenedPullRequests"), description: "Its branches" },
      problems: ["agent_busy", "nothing_to_open", "pull_request_conflict"],
    },
    async ({ params, principal, context, rawBody }) => {
      const agent = await access.find(principal, params.id, "manage");
      const isFinal = forwarding.forwarded(context.env.incoming) !== null;
      const holder = isFinal ? null : await findHolder(agent.id);
      if (holder !== null) return forwarding.call(context, rawBody, holder);
      const reopened = await reopen(platform, agent);
      // Each hand-off is of all repositories of the agent: that of its latest run continues with those of earlier ones.
      const published = await handoff.publish(reopened[0].run_id, AbortSignal.timeout(limitMs));
      refuseUnopened(reopened, published);
      return { branches: published.branches };
    },
  );
}

const limitMs = 60_000;

type Reopened = [ReopenedHandoff, ...ReopenedHandoff[]];

/** The hand-offs that wait for a pull request, those of the latest run first. */
async function reopen({ db }: PlatformContext, agent: ListedAgent): Promise<Reopened> {
  return db.transaction().execute(async (tx) => {
    await lockAgent(tx, agent.id);
    const { busy, settings: current } = await findAgent(tx, agent.team_id, agent.id);
    if (busy)
      throw new ApiError("agent_busy", `Agent ${agent.id} has an active run; wait for it, then open the pull request.`);
    const [latest, ...others] = await reopenHandoffs(tx, agent.id);
    if (latest === undefined)
      throw new ApiError(
        "nothing_to_open",
        `Agent ${agent.id} has pushed nothing that is not in a pull request. Send it a follow-up that changes a file.`,
      );
    const settings = JSON.stringify({ ...current, autoCreatePR: true });
    await tx.updateTable("agents").set({ settings }).where("id", "=", agent.id).execute();
    return [latest, ...others];
  });
}

/** Each reopened repository has a pull request then: the caller may archive other agents because of it. */
function refuseUnopened(reopened: Reopened, { branches, faults }: HandedOff): void {
  const reasons = reopened.flatMap(({ repo_url, branch, base_branch }) => {
    const pushed = branches.find(({ repoUrl }) => repoUrl === repo_url);
    if (pushed?.prUrl !== undefined) return [];
    const fault = faults.find(({ repoUrl }) => repoUrl === repo_url);
    if (fault !== undefined) return [`${repo_url}: ${fault.message}`];
    if (pushed === undefined) return [`${repo_url}: the files of the agent are not on a server any more.`];
    return branch === base_branch
      ? [`${repo_url}: the agent works on "${branch}" itself, so there is no other branch to merge it into.`]
      : [
          `${repo_url}: "${branch}" is pushed, but the platform has no access to the API of the host. Open it there, or have the team's administrator connect the host.`,
        ];
  });
  if (reasons.length === 0) return;
  const opened = branches.flatMap(({ prUrl }) => prUrl ?? []).map((url) => `There is ${url}.`);
  throw new ApiError("pull_request_conflict", [...reasons, ...opened].join(" "));
}

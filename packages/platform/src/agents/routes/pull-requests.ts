// `POST /v1/agents/{id}/pull-requests`: the pull requests of an agent that was created without any.
import { z } from "zod";
import { type Api, ApiError, type Forwarding, type PlatformContext, schema } from "../../foundation/index.ts";
import { type Handoff, reopenHandoffs } from "../../repositories/index.ts";
import { lockAgent } from "../store.ts";
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
      const runIds = await reopen(platform, agent);
      const published = await Promise.all(runIds.map((runId) => handoff.publish(runId, AbortSignal.timeout(limitMs))));
      const [fault] = published.flatMap(({ faults }) => faults);
      if (fault) throw new ApiError("pull_request_conflict", `${fault.repoUrl}: ${fault.message}`);
      return { branches: published.flatMap(({ branches }) => branches) };
    },
  );
}

const limitMs = 60_000;

/** The runs whose hand-offs wait for a pull request. */
async function reopen({ db }: PlatformContext, agent: ListedAgent): Promise<string[]> {
  if (agent.busy)
    throw new ApiError("agent_busy", `Agent ${agent.id} has an active run; wait for it, then open the pull request.`);
  const runIds = await reopenHandoffs(db, agent.id);
  if (runIds.length === 0)
    throw new ApiError(
      "nothing_to_open",
      `Agent ${agent.id} has pushed nothing that is not in a pull request. Send it a follow-up that changes a file.`,
    );
  await db.transaction().execute(async (tx) => {
    const row = await lockAgent(tx, agent.id);
    const settings = JSON.stringify({ ...(row ?? agent).settings, autoCreatePR: true });
    await tx.updateTable("agents").set({ settings }).where("id", "=", agent.id).execute();
  });
  return runIds;
}

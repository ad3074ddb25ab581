// `GET /v1/overview/…`: what the pages of agents show, in one request each.
import { z } from "zod";
import { type Api, schema } from "../../foundation/index.ts";
import { type OverviewHost, readDetails, readOverview } from "./read.ts";
import { openListWatch } from "./watch.ts";

const tag = "Overview";

export function addOverviewRoutes(api: Api, host: OverviewHost): void {
  const watch = openListWatch(host.platform);
  api.route(
    {
      method: "get",
      path: "/v1/overview/agents",
      summary: "List agents with their last run, owner, pull requests and cost, newest first",
      tag,
      scope: "agents:read",
      query: schema("overview", "AgentOverviewQuery"),
      answer: { status: 200, schema: schema("overview", "AgentOverviewPage"), description: "A page of agents" },
    },
    async ({ query, principal, context }) =>
      (context.req.header("accept") ?? "").includes("text/event-stream")
        ? watch(context, principal.teamId)
        : readOverview(host, principal, query),
  );
  api.route(
    {
      method: "get",
      path: "/v1/overview/agents/{id}",
      summary: "Read an agent with its runs, prompts and artifacts, and what the caller may do with it",
      tag,
      scope: "agents:read",
      sharing: "read",
      params: () => z.object({ id: z.string() }),
      answer: { status: 200, schema: schema("overview", "AgentDetails"), description: "The agent" },
    },
    async ({ params, principal }) => readDetails(host, principal, await host.access.find(principal, params.id, "read")),
  );
  addRepositories(api, host);
}

/** Without the hosts outside, which take time to answer: see `GET /v1/repositories`. */
function addRepositories(api: Api, { githost }: OverviewHost): void {
  api.route(
    {
      method: "get",
      path: "/v1/overview/repositories",
      summary: "List the repositories of the embedded git host",
      tag,
      scope: "repositories:read",
      answer: {
        status: 200,
        schema: schema("overview", "HostedRepositoryList"),
        description: "The repositories of the team",
      },
    },
    async ({ principal }) => {
      const found = await githost.repositories.list(principal.teamId);
      return { items: found.map(({ name, defaultBranch }) => ({ name, url: githost.cloneUrl(name), defaultBranch })) };
    },
  );
}

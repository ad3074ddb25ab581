// `POST /v1/repositories`: an empty repository of the embedded git host.
import { type Api, schema } from "../../foundation/index.ts";
import type { GitHost } from "./host.ts";

export function addCreateRoute(api: Api, host: GitHost): void {
  api.route(
    {
      method: "post",
      path: "/v1/repositories",
      summary: "Create an empty repository on the embedded git host",
      tag: "account",
      scope: "repositories:write",
      body: schema("overview", "NewRepository"),
      rateLimit: { requests: 60, seconds: 3_600 },
      answer: {
        status: 201,
        schema: schema("overview", "HostedRepositoryEntry"),
        description: "The repository, to push to",
      },
      problems: ["repository_name_conflict"],
    },
    async ({ body: { name }, principal: { teamId } }) => {
      const signal = AbortSignal.timeout(60_000);
      const { defaultBranch } = await host.repositories.create({ teamId, name, from: null }, signal);
      return { name, url: host.cloneUrl(name), defaultBranch };
    },
  );
}

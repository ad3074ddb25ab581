// `POST /v1/repositories`: a repository of the embedded git host, empty or with the commits of another.
import { type Api, type Principal, schema } from "../../foundation/index.ts";
import type { GitHost } from "./host.ts";

export interface CreateRouteOptions {
  host: GitHost;
  /** Returns a git directory with all branches and tags of this URL. Throws ApiError. */
  fetchImport(request: ImportRequest, signal: AbortSignal): Promise<string>;
}

export interface ImportRequest {
  principal: Principal;
  url: string;
}

const createMs = 60_000;
const importMs = 15 * 60_000;

export function addCreateRoute(api: Api, { host, fetchImport }: CreateRouteOptions): void {
  api.route(
    {
      method: "post",
      path: "/v1/repositories",
      summary: "Create a repository on the embedded git host, empty or as a copy of another one",
      tag: "account",
      scope: "repositories:write",
      body: schema("overview", "NewRepository"),
      rateLimit: { requests: 60, seconds: 3_600 },
      answer: {
        status: 201,
        schema: schema("overview", "HostedRepositoryEntry"),
        description: "The repository, to push to",
      },
      problems: ["repository_name_conflict", "repository_access", "integration_not_connected", "unavailable"],
    },
    async ({ body: { name, importUrl: url }, principal, context }) => {
      const { teamId } = principal;
      const signal = AbortSignal.timeout(url === undefined ? createMs : importMs);
      if (url !== undefined) {
        api.admission.admitGitProcess(context, teamId);
        await host.repositories.checkNew(teamId, name);
      }
      const from = url === undefined ? null : await fetchImport({ principal, url }, signal);
      const { defaultBranch } = await host.repositories.create({ teamId, name, from }, signal);
      return { name, url: host.cloneUrl(name), defaultBranch };
    },
  );
}

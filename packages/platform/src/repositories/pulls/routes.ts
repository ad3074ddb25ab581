// `/v1/repositories/{name}/pulls`: pull requests of the embedded git host, read, discussed and merged.
import type { ProblemCode } from "@agentcli/protocol/api";
import type { Context } from "hono";
import { z } from "zod";
import { type Api, ApiError, type Env, schema } from "../../foundation/index.ts";
import { type Principal, principalName } from "../../identity/index.ts";
import { type HostedRepository, mergeAs, type PullRequestRecord } from "../githost/index.ts";
import { type PullHost, readDetails, readPage, readPatch } from "./read.ts";

const Name = () => z.object({ name: z.string().max(100) });
const Pull = () => z.object({ name: z.string().max(100), number: z.coerce.number().int().min(1).max(999_999_999) });

const problems: ProblemCode[] = ["repository_not_found", "pull_request_not_found", "pull_request_conflict"];
const shared = { tag: "Pull requests", problems };

interface Caller {
  principal: Principal;
  context: Context<Env>;
}

/** Counted as requests that start git. Throws ApiError. */
type FindRepository = (caller: Caller, name: string) => Promise<HostedRepository>;

export function addPullRequestRoutes(api: Api, pulls: PullHost): void {
  const { host } = pulls;
  const find: FindRepository = async ({ principal, context }, name) => {
    api.admission.admitGitProcess(context, principal.teamId);
    const repository = await host.repositories.find(principal.teamId, name);
    if (repository === undefined) throw new ApiError("repository_not_found", `There is no repository "${name}".`);
    return repository;
  };
  addReading(api, pulls, find);
  addChanges(api, pulls, find);
  addDiscussion(api, pulls, find);
}

function addReading(api: Api, pulls: PullHost, find: FindRepository): void {
  const { host } = pulls;
  const read = { method: "get", scope: "repositories:read", ...shared } as const;
  api.route(
    {
      ...read,
      path: "/v1/repositories/{name}/pulls",
      summary: "List the pull requests of a repository of the embedded git host, newest first",
      params: Name,
      query: schema("pulls", "PullRequestQuery"),
      answer: { status: 200, schema: schema("pulls", "PullRequestPage"), description: "A page of pull requests" },
    },
    async ({ params, query, ...caller }) => readPage(pulls, await find(caller, params.name), query),
  );
  api.route(
    {
      ...read,
      path: "/v1/repositories/{name}/pulls/{number}",
      summary: "Read a pull request with its checks, comments and reviews",
      params: Pull,
      answer: { status: 200, schema: schema("pulls", "PullRequestDetails"), description: "The pull request" },
    },
    async ({ params, ...caller }) => {
      const repository = await find(caller, params.name);
      return readDetails(pulls, repository, await host.pullRequests(repository).read(params.number));
    },
  );
  api.route(
    {
      ...read,
      path: "/v1/repositories/{name}/pulls/{number}/diff",
      summary: "Read the changes of a pull request",
      params: Pull,
      answer: {
        status: 200,
        schema: schema("pulls", "PullRequestDiff"),
        description: "One patch, at most 1 MiB of it",
      },
    },
    async ({ params, ...caller }) => {
      const repository = await find(caller, params.name);
      return readPatch(repository, await host.pullRequests(repository).read(params.number));
    },
  );
}

function addChanges(api: Api, pulls: PullHost, find: FindRepository): void {
  const { host } = pulls;
  const write = { scope: "repositories:write", params: Pull, ...shared } as const;
  const answer = {
    status: 200,
    schema: schema("pulls", "PullRequestDetails"),
    description: "The pull request as it is now",
  } as const;
  api.route(
    {
      ...write,
      method: "patch",
      path: "/v1/repositories/{name}/pulls/{number}",
      summary: "Change a pull request: its title, text or draft, or close and reopen it",
      body: schema("pulls", "PullRequestChange"),
      answer,
    },
    async ({ params: { name, number }, body: { draft, ...change }, ...caller }) => {
      const repository = await find(caller, name);
      const fields = { ...change, ...(draft !== undefined && { isDraft: draft }) };
      const actor = principalName(caller.principal);
      const changed = await host.pullRequests(repository).change(number, fields, actor);
      return readDetails(pulls, repository, changed);
    },
  );
  api.route(
    {
      ...write,
      method: "post",
      path: "/v1/repositories/{name}/pulls/{number}/merge",
      summary: "Merge a pull request with a signed merge commit",
      body: schema("pulls", "PullRequestMerge"),
      bodyIsOptional: true,
      answer,
    },
    async ({ params: { name, number }, body, ...caller }) => {
      const repository = await find(caller, name);
      const { headCommit } = body;
      const merged = await mergeAs(host, { repository, number, principal: caller.principal, headCommit });
      return readDetails(pulls, repository, merged);
    },
  );
}

function addDiscussion(api: Api, pulls: PullHost, find: FindRepository): void {
  const { host } = pulls;
  const write = { method: "post", scope: "repositories:write", params: Pull, ...shared } as const;
  const answer = {
    status: 201,
    schema: schema("pulls", "PullRequestDetails"),
    description: "The pull request with it",
  } as const;
  const findPull = async (caller: Caller, { name, number }: z.output<ReturnType<typeof Pull>>) => {
    const repository = await find(caller, name);
    return { repository, pull: await host.pullRequests(repository).read(number) };
  };
  const show = ({ repository, pull }: { repository: HostedRepository; pull: PullRequestRecord }) =>
    readDetails(pulls, repository, pull);
  api.route(
    {
      ...write,
      path: "/v1/repositories/{name}/pulls/{number}/comments",
      summary: "Comment on a pull request, or on one of its lines",
      body: schema("pulls", "NewPullRequestComment"),
      answer,
    },
    async ({ params, body, ...caller }) => {
      const found = await findPull(caller, params);
      const author = principalName(caller.principal);
      await host.commentStore(found.repository).comment(found.pull, { ...body, author });
      return show(found);
    },
  );
  api.route(
    {
      ...write,
      path: "/v1/repositories/{name}/pulls/{number}/reviews",
      summary: "Review a pull request: approve it, ask for changes or comment",
      body: schema("pulls", "NewPullRequestReview"),
      answer,
    },
    async ({ params, body, ...caller }) => {
      const found = await findPull(caller, params);
      const author = principalName(caller.principal);
      await host.commentStore(found.repository).review(found.pull, { ...body, author });
      return show(found);
    },
  );
}

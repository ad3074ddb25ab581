// `/v1/repositories/{name}`: branches, files and commits of a repository of the embedded git host.
import type { ProblemCode } from "@agentcli/protocol/api";
import { z } from "zod";
import { type Api, ApiError, type Call, schema } from "../../foundation/index.ts";
import type { GitHost, HostedRepository } from "../githost/index.ts";
import { readCommit, readCommits, readContent, readRepository } from "./read.ts";

const Name = () => z.object({ name: z.string().max(100) });
const Commit = () => z.object({ name: z.string().max(100), commit: z.string().regex(/^[0-9a-f]{40}$/) });

const problems: ProblemCode[] = ["repository_not_found", "not_found", "unavailable"];
const read = { method: "get", scope: "repositories:read", tag: "Repositories", problems } as const;

type Caller = Pick<Call<{ name: string }, unknown, unknown>, "params" | "principal" | "context">;

export function addBrowseRoutes(api: Api, host: GitHost): void {
  /** Counted as a request that starts git. Throws ApiError. */
  const find = async ({ params: { name }, principal, context }: Caller): Promise<HostedRepository> => {
    api.admission.admitGitProcess(context, principal.teamId);
    const repository = await host.repositories.find(principal.teamId, name);
    if (repository === undefined) throw new ApiError("repository_not_found", `There is no repository "${name}".`);
    return repository;
  };
  api.route(
    {
      ...read,
      path: "/v1/repositories/{name}",
      summary: "Read a repository of the embedded git host with its branches",
      params: Name,
      answer: { status: 200, schema: schema("repositories", "RepositoryDetails"), description: "The repository" },
    },
    async (call) => readRepository(host, await find(call)),
  );
  api.route(
    {
      ...read,
      path: "/v1/repositories/{name}/contents",
      summary: "Read a folder or a file of a repository at a branch, tag or commit",
      params: Name,
      query: schema("repositories", "RepositoryContentQuery"),
      answer: {
        status: 200,
        schema: schema("repositories", "RepositoryContent"),
        description: "What the folder has, or the text of the file",
      },
    },
    async (call) => readContent(await find(call), call.query),
  );
  api.route(
    {
      ...read,
      path: "/v1/repositories/{name}/commits",
      summary: "List the commits of a branch, or those that changed a file or folder, newest first",
      params: Name,
      query: schema("repositories", "RepositoryCommitQuery"),
      answer: { status: 200, schema: schema("repositories", "CommitPage"), description: "A page of commits" },
    },
    async (call) => readCommits(await find(call), call.query),
  );
  api.route(
    {
      ...read,
      path: "/v1/repositories/{name}/commits/{commit}",
      summary: "Read a commit with its message and its changes",
      params: Commit,
      answer: {
        status: 200,
        schema: schema("repositories", "CommitDetails"),
        description: "The commit, with at most 1 MiB of its patch; of a merge what it changed on its branch",
      },
    },
    async (call) => readCommit(await find(call), call.params.commit),
  );
}

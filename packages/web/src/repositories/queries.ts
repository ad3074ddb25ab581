// Repositories of the embedded git host, their files and commits.
import type {
  CommitDetails,
  CommitPage,
  HostedRepositoryList,
  RepositoryContent,
  RepositoryDetails,
} from "@agentcli/protocol/api";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { request } from "../api/request.ts";
import type { RepositoryView } from "./view.ts";

export const hostedQuery = queryOptions({
  queryKey: ["hosted-repositories"],
  queryFn: ({ signal }) => request<HostedRepositoryList>("/v1/overview/repositories", { signal }),
});

const calmMs = 15_000;

const pathOf = (name: string): string => `/v1/repositories/${encodeURIComponent(name)}`;

export const repositoryQuery = (name: string) =>
  queryOptions({
    queryKey: ["repository", name],
    queryFn: ({ signal }) => request<RepositoryDetails>(pathOf(name), { signal }),
    refetchInterval: calmMs,
  });

const queryOf = ({ ref, path }: RepositoryView): string =>
  new URLSearchParams({ ...(ref !== undefined && { ref }), ...(path !== undefined && { path }) }).toString();

export const contentQuery = (name: string, view: RepositoryView) =>
  queryOptions({
    queryKey: ["repository", name, "contents", view],
    queryFn: ({ signal }) => request<RepositoryContent>(`${pathOf(name)}/contents?${queryOf(view)}`, { signal }),
  });

/** All pages begin at the commit of the first one, whatever is pushed meanwhile. */
export const commitsQuery = (name: string, view: RepositoryView) =>
  infiniteQueryOptions({
    queryKey: ["repository", name, "commits", view],
    queryFn: ({ pageParam: { ref, skip }, signal }) => {
      const at = { ...view, ...(ref !== undefined && { ref }) };
      return request<CommitPage>(`${pathOf(name)}/commits?${queryOf(at)}&skip=${skip}`, { signal });
    },
    initialPageParam: { skip: 0 } as { ref?: string; skip: number },
    getNextPageParam: ({ commit, nextSkip }) => (nextSkip === undefined ? undefined : { ref: commit, skip: nextSkip }),
  });

export const commitQuery = (name: string, commit: string) =>
  queryOptions({
    queryKey: ["repository", name, "commit", commit],
    queryFn: ({ signal }) =>
      request<CommitDetails>(`${pathOf(name)}/commits/${encodeURIComponent(commit)}`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });

// Pull requests of the embedded git host, and the agent that opened one.
import type {
  AgentDetails,
  AgentListItem,
  PullRequestDetails,
  PullRequestDiff,
  PullRequestPage,
} from "@agentcli/protocol/api";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { request } from "../api/request.ts";

export interface PullName {
  name: string;
  number: string;
}

export const pullsPath = (name: string) => `/v1/repositories/${encodeURIComponent(name)}/pulls`;
export const pullPath = ({ name, number }: PullName) => `${pullsPath(name)}/${encodeURIComponent(number)}`;

const calmMs = 15_000;

export const pullsQuery = (name: string) =>
  infiniteQueryOptions({
    queryKey: ["pulls", name],
    queryFn: ({ pageParam, signal }) =>
      request<PullRequestPage>(`${pullsPath(name)}${pageParam === 0 ? "" : `?before=${pageParam}`}`, { signal }),
    initialPageParam: 0,
    getNextPageParam: ({ nextBefore }) => nextBefore,
    refetchInterval: calmMs,
  });

export const pullQuery = (pull: PullName) =>
  queryOptions({
    queryKey: ["pull", pull.name, pull.number],
    queryFn: ({ signal }) => request<PullRequestDetails>(pullPath(pull), { signal }),
    refetchInterval: calmMs,
  });

/** Read again when the head has moved. */
export const pullDiffQuery = (pull: PullName, { headCommit = "", state }: PullRequestDetails) =>
  queryOptions({
    queryKey: ["pull", pull.name, pull.number, "diff", headCommit, state],
    queryFn: ({ signal }) => request<PullRequestDiff>(`${pullPath(pull)}/diff`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Null where none did, or it is not shown to the caller. */
export const agentOfPullQuery = (url: string) =>
  queryOptions({
    queryKey: ["agent-of-pull", url],
    queryFn: async ({ signal }) => {
      const { items } = await request<{ items: AgentListItem[] }>(`/v1/agents?${new URLSearchParams({ prUrl: url })}`, {
        signal,
      });
      const id = items[0]?.id;
      return id === undefined ? null : request<AgentDetails>(`/v1/overview/agents/${id}`, { signal });
    },
    refetchInterval: calmMs,
  });

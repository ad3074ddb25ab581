// What the pages of environments read.
import type {
  ActiveBuild,
  Build,
  BuildDiff,
  Environment,
  EnvironmentDetail,
  EnvironmentVersion,
} from "@agentcli/protocol/api";
import { queryOptions } from "@tanstack/react-query";
import { request } from "../api/request.ts";
import { session } from "../api/session.ts";

const liveMs = 3_000;
const calmMs = 15_000;

export const pathOf = (id: string): string => `/v1/environments/${encodeURIComponent(id)}`;

export const environmentQuery = (id: string) =>
  queryOptions({
    queryKey: ["environments", id],
    queryFn: async ({ signal }) => {
      const [environment, builds, active, history] = await Promise.all([
        request<EnvironmentDetail>(pathOf(id), { signal }),
        request<{ items: Build[] }>(`${pathOf(id)}/builds`, { signal }),
        request<ActiveBuild>(`${pathOf(id)}/builds/active`, { signal }),
        request<{ items: EnvironmentVersion[] }>(`${pathOf(id)}/history?limit=20`, { signal }),
      ]);
      return { environment, builds: builds.items, active, history: history.items };
    },
    refetchInterval: ({ state }) => (state.data?.builds.some(isRunning) ? liveMs : calmMs),
  });

export const buildQuery = (id: string, buildId: string) =>
  queryOptions({
    queryKey: ["environments", id, "builds", buildId],
    queryFn: ({ signal }) => request<Build>(`${pathOf(id)}/builds/${encodeURIComponent(buildId)}`, { signal }),
    refetchInterval: ({ state }) => (state.data && isRunning(state.data) ? liveMs : false),
  });

/** A build never changes. */
export const buildDiffQuery = (id: string, { from, to }: { from: string; to: string }) =>
  queryOptions({
    queryKey: ["environments", id, "diff", from, to],
    queryFn: ({ signal }) =>
      request<BuildDiff>(`${pathOf(id)}/builds/${encodeURIComponent(to)}/diff?${new URLSearchParams({ from })}`, {
        signal,
      }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    enabled: from !== to,
  });

/** Which two builds are compared; absent: the active one, and the newest other one. */
export interface ComparedBuilds {
  from?: string;
  to?: string;
}

export const readComparedBuilds = ({ from, to }: Record<string, unknown>): ComparedBuilds => ({
  ...(typeof from === "string" && { from }),
  ...(typeof to === "string" && { to }),
});

export const isRunning = ({ status }: Build): boolean => status === "IN_PROGRESS";

/** A draft that waits for a decision, if it is not outdated. */
export const isOpenDraft = ({ draft, status, discardedAt }: Build): boolean =>
  draft && status === "SUCCEEDED" && discardedAt === undefined;

export const discardWarning = "It can never be activated then. The build and its log stay, and it can be built again.";

/** Again, or for the first time. */
export const mayActivate = ({ status, discardedAt }: Build): boolean =>
  status === "SUCCEEDED" && discardedAt === undefined;

export const mayManage = ({ owner }: Environment): boolean => owner === "personal" || session.isAdmin;

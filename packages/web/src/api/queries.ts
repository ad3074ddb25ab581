// What pages read from the API, with how fresh it has to be.
import type {
  AgentDetails,
  AgentDiff,
  AgentOverviewPage,
  Environment,
  HostedRepositoryList,
  ModelList,
  RepositoryList,
} from "@agentcli/protocol/api";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { request } from "./request.ts";

const liveMs = 3_000;
const calmMs = 15_000;
/** Of a list that is read again when the server says that it has changed: see `agent-changes.ts`. */
const listMs = 30_000;

export interface AgentListRequest {
  archived: boolean;
  sdk: boolean;
}

export const agentsQuery = ({ archived, sdk }: AgentListRequest) =>
  infiniteQueryOptions({
    queryKey: ["agents", { archived, sdk }],
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams({
        limit: "100",
        includeArchived: String(archived),
        includeSdk: String(sdk),
        ...(pageParam !== "" && { cursor: pageParam }),
      });
      return request<AgentOverviewPage>(`/v1/overview/agents?${query}`, { signal });
    },
    initialPageParam: "",
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: listMs,
  });

export const agentQuery = (id: string) =>
  queryOptions({
    queryKey: ["agent", id],
    queryFn: ({ signal }) => request<AgentDetails>(`/v1/overview/agents/${encodeURIComponent(id)}`, { signal }),
    refetchInterval: ({ state }) => (state.data?.group === "running" ? liveMs : calmMs),
  });

/** Of all its runs, or of the last one alone. */
export const diffQuery = (id: string, of: "agent" | "run") =>
  queryOptions({
    queryKey: ["diff", id, of],
    queryFn: ({ signal }) => request<AgentDiff>(`/v1/agents/${encodeURIComponent(id)}/diff?of=${of}`, { signal }),
    refetchOnWindowFocus: false,
  });

export const environmentsQuery = queryOptions({
  queryKey: ["environments"],
  queryFn: ({ signal }) => request<{ items: Environment[] }>("/v1/environments?limit=100", { signal }),
  refetchInterval: calmMs,
});

const hour = 3_600_000;

export const modelsQuery = queryOptions({
  queryKey: ["models"],
  queryFn: ({ signal }) => request<ModelList>("/v1/models", { signal }),
  staleTime: hour,
});

/** Those of this platform first. The server lists those of other hosts once a minute; a refusal leaves them out. */
export const repositoriesQuery = queryOptions({
  queryKey: ["repositories"],
  queryFn: async ({ signal }): Promise<RepositoryList> => {
    const { items } = await request<HostedRepositoryList>("/v1/overview/repositories", { signal });
    const hosted = items.map(({ url }) => ({ url }));
    const offered = await request<RepositoryList>("/v1/repositories", { signal }).catch(() => ({ items: [] }));
    const others = offered.items.filter(({ url }) => !hosted.some((one) => one.url === url));
    return { ...offered, items: [...hosted, ...others] };
  },
  staleTime: hour,
});

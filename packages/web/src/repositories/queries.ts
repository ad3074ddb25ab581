// Repositories of the embedded git host.
import type { HostedRepositoryList } from "@agentcli/protocol/api";
import { queryOptions } from "@tanstack/react-query";
import { request } from "../api/request.ts";

export const hostedQuery = queryOptions({
  queryKey: ["hosted-repositories"],
  queryFn: ({ signal }) => request<HostedRepositoryList>("/v1/overview/repositories", { signal }),
});

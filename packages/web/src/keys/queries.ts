// What the pages of keys and service accounts read.
import type { ApiKeyList, ServiceAccountList } from "@agentcli/protocol/api";
import { queryOptions } from "@tanstack/react-query";
import { request } from "../api/request.ts";

export const keysQuery = queryOptions({
  queryKey: ["keys"],
  queryFn: ({ signal }) => request<ApiKeyList>("/v1/keys", { signal }),
});

export const serviceAccountsQuery = queryOptions({
  queryKey: ["service-accounts"],
  queryFn: ({ signal }) => request<ServiceAccountList>("/v1/service-accounts", { signal }),
});

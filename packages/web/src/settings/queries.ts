// What the page of settings reads.
import type { Credential, TeamSettings, UserSettings } from "@agentcli/protocol/api";
import { queryOptions } from "@tanstack/react-query";
import { request } from "../api/request.ts";

export const teamSettingsQuery = queryOptions({
  queryKey: ["settings", "team"],
  queryFn: ({ signal }) => request<TeamSettings>("/v1/team/settings", { signal }),
});

export const userSettingsQuery = queryOptions({
  queryKey: ["settings", "me"],
  queryFn: ({ signal }) => request<UserSettings>("/v1/me/settings", { signal }),
});

export const credentialsQuery = queryOptions({
  queryKey: ["settings", "credentials"],
  queryFn: ({ signal }) => request<{ items: Credential[] }>("/v1/team/credentials", { signal }),
});

// What the page of members reads.
import type { InvitationList, MemberList } from "@agentcli/protocol/api";
import { queryOptions } from "@tanstack/react-query";
import { request } from "../api/request.ts";

export const membersQuery = queryOptions({
  queryKey: ["members"],
  queryFn: ({ signal }) => request<MemberList>("/v1/members", { signal }),
});

export const invitationsKey = ["invitations"] as const;

export const invitationsQuery = queryOptions({
  queryKey: invitationsKey,
  queryFn: ({ signal }) => request<InvitationList>("/v1/invitations", { signal }),
});

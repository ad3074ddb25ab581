// Changes of a pull request: the answer of the server is what the page shows next.
import type { PullRequestDetails } from "@agentcli/protocol/api";
import { useQueryClient } from "@tanstack/react-query";
import { type RequestOptions, request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { type PullName, pullPath, pullQuery, pullsQuery } from "./queries.ts";

export interface PullCall extends Pick<RequestOptions, "body"> {
  method: "PATCH" | "POST";
  /** Below the pull request's own path. */
  below: string;
}

export function usePullAction(pull: PullName) {
  const queries = useQueryClient();
  return useAction(async ({ below, ...call }: PullCall) => {
    const details = await request<PullRequestDetails>(`${pullPath(pull)}${below}`, call);
    queries.setQueryData(pullQuery(pull).queryKey, details);
    await queries.invalidateQueries({ queryKey: pullsQuery(pull.name).queryKey });
  });
}

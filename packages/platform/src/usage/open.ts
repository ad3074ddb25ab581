// `GET /v1/usage`: what the caller or the team has used and spent.
import { ApiError, type Principal, type Subject, schema } from "../foundation/index.ts";
import type { UsageHost } from "./described-agents.ts";
import { readSpending } from "./read.ts";

export const openUsage = (host: UsageHost): Subject => ({
  routes: (api) =>
    api.route(
      {
        method: "get",
        path: "/v1/usage",
        summary:
          "Show usage and cost by day, model, person, agent, repository, automation and tag, with the limits of this month",
        tag: "Usage",
        scope: "agents:read",
        query: schema("spending", "SpendingQuery"),
        answer: {
          status: 200,
          schema: schema("spending", "Spending"),
          description: "Of the caller, or of the whole team",
        },
        problems: ["team_admin_required"],
      },
      ({ query, principal }) => {
        if (query.of === "team") requireAdmin(principal);
        return readSpending(host, principal, query);
      },
    ),
});

function requireAdmin(principal: Principal): void {
  if (principal.kind === "user" && principal.role === "admin" && principal.scopes.includes("admin")) return;
  throw new ApiError(
    "team_admin_required",
    "Only administrators (with a key that has the scope admin) see the usage of the team. Leave out of=team for your own.",
  );
}

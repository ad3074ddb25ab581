// Back-tests over HTTP, and what runs of an automation have proposed.
import { z } from "zod";
import { type Api, ApiError, principalName, schema } from "../../foundation/index.ts";
import { findBacktest, requestBacktest, showBacktest } from "../backtests/index.ts";
import type { AutomationHost } from "../host.ts";
import { listProposals } from "../proposals/store.ts";
import { one, tag } from "./automations.ts";

export function addBacktestRoutes(api: Api, host: AutomationHost): void {
  addRequest(api, host);
  addRead(api, host);
  addProposals(api, host);
}

function addRequest(api: Api, { platform, access }: AutomationHost): void {
  api.route(
    {
      method: "post",
      path: "/v1/automations/{automationId}/backtests",
      summary: "Replay the latest events for an automation; its runs propose only and reach nothing",
      tag,
      scope: "agents:write",
      rateLimit: { requests: 30, seconds: 60 },
      params: one,
      body: schema("backtests", "RequestBacktest"),
      bodyIsOptional: true,
      answer: {
        status: 201,
        schema: schema("backtests", "Backtest"),
        description: "The back-test, which a server with the role scheduler begins",
      },
      problems: ["automation_not_found", "backtest_active", "team_admin_required"],
    },
    async ({ params, body: { last }, principal }) => {
      const automation = await access.find(principal, params.automationId, "manage");
      const row = await requestBacktest(platform, automation, { last, createdBy: principalName(principal) });
      return showBacktest(platform, automation, row);
    },
  );
}

function addRead(api: Api, { platform, access }: AutomationHost): void {
  api.route(
    {
      method: "get",
      path: "/v1/automations/{automationId}/backtests/{backtestId}",
      summary: "Read a back-test: what would have started, and what the runs would have written",
      tag,
      scope: "agents:read",
      params: () => z.object({ automationId: z.string(), backtestId: z.string() }),
      answer: { status: 200, schema: schema("backtests", "Backtest"), description: "The back-test" },
      problems: ["automation_not_found", "backtest_not_found"],
    },
    async ({ params: { automationId, backtestId }, principal }) => {
      const automation = await access.find(principal, automationId, "read");
      return showBacktest(platform, automation, await findBacktest(platform.db, automation.id, backtestId));
    },
  );
}

function addProposals(api: Api, { platform, access }: AutomationHost): void {
  api.route(
    {
      method: "get",
      path: "/v1/automations/{automationId}/firings/{firingId}/proposals",
      summary:
        "List what the run of a firing would have written; it was recorded, because the automation only proposes",
      tag,
      scope: "agents:read",
      params: () => z.object({ automationId: z.string(), firingId: z.string() }),
      answer: { status: 200, schema: schema("backtests", "ProposalList"), description: "In the order of the calls" },
      problems: ["automation_not_found", "firing_not_found"],
    },
    async ({ params: { automationId, firingId }, principal }) => {
      const { id, team_id: teamId } = await access.find(principal, automationId, "read");
      const firing = await platform.db
        .selectFrom("automation_firings")
        .select("agent_id")
        .where("id", "=", firingId)
        .where("automation_id", "=", id)
        .executeTakeFirst();
      if (!firing)
        throw new ApiError("firing_not_found", `There is no firing ${firingId.slice(0, 100)} of this automation.`);
      const proposals = await listProposals(platform, { teamId, agentIds: [firing.agent_id] });
      return { items: proposals.get(firing.agent_id) ?? [] };
    },
  );
}

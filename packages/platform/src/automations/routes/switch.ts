// Enables and disables automations over HTTP, and shows what one would do.
import { type Api, type Principal, schema } from "../../foundation/index.ts";
import { cancelRunsOf } from "../firings/admit.ts";
import type { AutomationHost } from "../host.ts";
import { dryRun } from "../inbound/dry-run.ts";
import { type AutomationRow, disableAutomation, enableAutomation } from "../store.ts";
import { automationOf } from "../views.ts";
import { one, tag, viewOf } from "./automations.ts";

export function addSwitchRoutes(api: Api, host: AutomationHost): void {
  addEnable(api, host);
  addDisable(api, host);
  addDryRun(api, host);
}

const switching = {
  method: "post",
  tag,
  scope: "agents:write",
  params: one,
  answer: { status: 200, schema: schema("automations", "Automation"), description: "The automation" },
  problems: ["automation_not_found", "team_admin_required"],
} as const;

function addEnable(api: Api, host: AutomationHost): void {
  const path = "/v1/automations/{automationId}/enable";
  const summary = "Enable an automation; what its schedules fire next is planned";
  api.route({ ...switching, problems: [...switching.problems], path, summary }, async ({ params, principal }) => {
    const { id } = await host.access.find(principal, params.automationId, "manage");
    return show(host, await host.platform.db.transaction().execute((tx) => enableAutomation(tx, id, host.now())));
  });
}

function addDisable(api: Api, host: AutomationHost): void {
  const path = "/v1/automations/{automationId}/disable";
  const summary = "Disable an automation; what is planned or waits is skipped";
  const route = { ...switching, problems: [...switching.problems], path, summary };
  api.route(
    { ...route, body: schema("automations", "DisableAutomation"), bodyIsOptional: true },
    async ({ params, principal, body }) => {
      const { id } = await host.access.find(principal, params.automationId, "manage");
      const change = { id, reason: `Disabled by ${nameOf(principal)}.`, now: host.now() };
      const disabled = await host.platform.db.transaction().execute(async (tx) => {
        const row = await disableAutomation(tx, change);
        if (body.cancelRuns) await cancelRunsOf(tx, id);
        return row;
      });
      return show(host, disabled);
    },
  );
}

/** For people: the reason is shown as it is written here. */
const nameOf = (principal: Principal): string => (principal.kind === "user" ? principal.email : principal.name);

function addDryRun(api: Api, host: AutomationHost): void {
  api.route(
    {
      method: "post",
      path: "/v1/automations/{automationId}/dry-run",
      summary: "Show what an automation would do for stored events; nothing is started",
      tag,
      scope: "agents:write",
      params: one,
      body: schema("automations", "DryRunAutomation"),
      bodyIsOptional: true,
      answer: {
        status: 200,
        schema: schema("automations", "DryRunResult"),
        description: "What would start, and what would be skipped",
      },
      problems: ["automation_not_found", "team_admin_required"],
    },
    async ({ params, body, principal }) =>
      dryRun(host, await host.access.find(principal, params.automationId, "manage"), body.events),
  );
}

const show = (host: AutomationHost, row: AutomationRow) => automationOf(viewOf(host), row);

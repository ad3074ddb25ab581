// Automations: agents that schedules, webhooks and people start, with a record of every firing.
import type { AgentHost } from "../agents/index.ts";
import type { ServerContext, Subject } from "../foundation/index.ts";
import type { Repositories } from "../repositories/index.ts";
import { openAutomationAccess } from "./access.ts";
import { releaseOwnClaims, startScheduler, startWatch } from "./firings/scheduler.ts";
import type { AutomationHost } from "./host.ts";
import { startInbound } from "./inbound/process.ts";
import { inboundRetention } from "./inbound/retention.ts";
import { automationRetention } from "./retention.ts";
import { addAutomationRoutes } from "./routes/automations.ts";
import { addEventSourceRoutes } from "./routes/event-sources.ts";
import { addFiringRoutes } from "./routes/firings.ts";
import { addWebhookRoute } from "./routes/webhook.ts";

export interface AutomationsOptions {
  agents: Pick<AgentHost, "submit">;
  repositories: Pick<Repositories, "checkAtCreation">;
}

export function openAutomations(context: ServerContext, { agents, repositories }: AutomationsOptions): Subject {
  const host: AutomationHost = {
    platform: context,
    access: openAutomationAccess(context),
    submit: agents.submit,
    checkRepositories: repositories.checkAtCreation,
    now: () => new Date(),
  };
  return {
    routes(api) {
      addAutomationRoutes(api, host);
      addFiringRoutes(api, host);
      addWebhookRoute(api, host);
      addEventSourceRoutes(api, host);
    },
    retention: [
      ...automationRetention(context.db, context.settings.retention.firingDays),
      ...inboundRetention(context.db),
    ],
    activities: [
      {
        role: "scheduler",
        async start() {
          await releaseOwnClaims(host);
          return startScheduler(host);
        },
      },
      { role: "scheduler", start: async () => startInbound(host) },
      { role: "every server", start: () => startWatch(host) },
    ],
  };
}

// Automations: agents that schedules, webhooks and people start, with a record of every firing.
import type { Tool } from "@agentcli/engine";
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
import { addMemoryRoutes } from "./routes/memories.ts";
import { addSubscriptionRoutes } from "./routes/subscriptions.ts";
import { addSwitchRoutes } from "./routes/switch.ts";
import { addWebhookRoute } from "./routes/webhook.ts";
import { startWakeUps } from "./subscriptions/wake.ts";
import { type RunOfAgent, toolsOfRun } from "./tools/of-run.ts";

export interface AutomationsOptions {
  agents: Pick<AgentHost, "submit" | "access">;
  repositories: Pick<Repositories, "checkAtCreation" | "githost" | "sources">;
}

export interface Automations extends Subject {
  /** What the platform itself gives to a run. */
  toolsOf(run: RunOfAgent): Promise<Tool[]>;
}

export function openAutomations(context: ServerContext, { agents, repositories }: AutomationsOptions): Automations {
  const host: AutomationHost = {
    platform: context,
    access: openAutomationAccess(context),
    submit: agents.submit,
    agents: agents.access,
    ...repositoriesOf(repositories),
    now: () => new Date(),
  };
  return {
    toolsOf: (run) => toolsOfRun(host, run),
    routes(api) {
      addAutomationRoutes(api, host);
      addSwitchRoutes(api, host);
      addMemoryRoutes(api, host);
      addFiringRoutes(api, host);
      addSubscriptionRoutes(api, host);
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
      { role: "scheduler", start: async () => startWakeUps(host) },
      { role: "every server", start: () => startWatch(host) },
    ],
  };
}

/** Addresses of the embedded git host change with those of its servers. */
export function repositoriesOf({ checkAtCreation, githost, sources }: AutomationsOptions["repositories"]) {
  return {
    checkRepositories: checkAtCreation,
    sources,
    shownRepository(url: string): string {
      const own = githost.readCloneUrl(url);
      return own ? githost.cloneUrl(own.name) : url;
    },
    pullRequestUrl(url: string, number: number): string {
      const own = githost.readCloneUrl(url);
      return own ? githost.pullRequestUrl(own.name, number) : `${withoutSuffix(url)}/pull/${number}`;
    },
  } satisfies Partial<AutomationHost>;
}

const withoutSuffix = (url: string): string => url.replace(/\/+$/, "").replace(/\.git$/, "");

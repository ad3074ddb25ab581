// Automations: agents that schedules, webhooks and people start, with a record of every firing.
import type { Tool } from "@agentcli/engine";
import type { AgentHost } from "../agents/index.ts";
import type { ServerContext, Subject } from "../foundation/index.ts";
import type { Repositories } from "../repositories/index.ts";
import { openAutomationAccess } from "./access.ts";
import { backtestsPart } from "./backtests/index.ts";
import { firingsPart, releaseOwnClaims, startWatch } from "./firings/scheduler.ts";
import type { AutomationHost } from "./host.ts";
import { fixStatesPart } from "./inbound/fix-states.ts";
import { inboundPart } from "./inbound/process.ts";
import { startReconciling } from "./inbound/reconcile.ts";
import { inboundRetention } from "./inbound/retention.ts";
import { mentionsPart } from "./inbound/start-mentions.ts";
import { type ProposingRun, proposeChanges } from "./proposals/changes.ts";
import { automationRetention } from "./retention.ts";
import { addAutomationRoutes } from "./routes/automations.ts";
import { addBacktestRoutes } from "./routes/backtests.ts";
import { addEventSourceRoutes } from "./routes/event-sources.ts";
import { addFiringRoutes } from "./routes/firings.ts";
import { addMemoryRoutes } from "./routes/memories.ts";
import { addMentionRoutes } from "./routes/mentions.ts";
import { addSubscriptionRoutes } from "./routes/subscriptions.ts";
import { addSwitchRoutes } from "./routes/switch.ts";
import { addWebhookRoute } from "./routes/webhook.ts";
import { wakeUpsPart } from "./subscriptions/wake.ts";
import type { RunOfAgent } from "./tools/of-run.ts";
import { startWork } from "./work.ts";

export interface AutomationsOptions extends Pick<AutomationHost, "checkEnv" | "findEnvironment"> {
  agents: Pick<AgentHost, "submit" | "access">;
  repositories: Pick<Repositories, "checkAtCreation" | "githost" | "hookDeliveries" | "sources" | "diffs">;
}

export interface Automations extends Subject {
  /** What the platform itself gives to a run. */
  toolsOf(run: RunOfAgent): Promise<Tool[]>;
  /** What a run that only proposes would have published. Safe to call again. */
  proposeChanges(run: ProposingRun, signal: AbortSignal): Promise<void>;
}

export function openAutomations(
  context: ServerContext,
  { agents, repositories, checkEnv, findEnvironment }: AutomationsOptions,
): Automations {
  const host: AutomationHost = {
    platform: context,
    access: openAutomationAccess(context),
    submit: agents.submit,
    agents: agents.access,
    checkEnv,
    findEnvironment,
    ...repositoriesOf(repositories),
    now: () => new Date(),
  };
  const isScheduler = context.settings.roles.includes("scheduler");
  return {
    toolsOf: async (run) => (await import("./tools/of-run.ts")).toolsOfRun(host, run),
    proposeChanges: (run, signal) => proposeChanges({ ...host, diffs: repositories.diffs }, run, signal),
    routes(api) {
      addAutomationRoutes(api, host);
      addSwitchRoutes(api, host);
      addMemoryRoutes(api, host);
      addFiringRoutes(api, host);
      addBacktestRoutes(api, host);
      addSubscriptionRoutes(api, host);
      addMentionRoutes(api, host);
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
          const waking = [mentionsPart(host), wakeUpsPart(host), fixStatesPart(host)];
          return startWork(host, [firingsPart(host), inboundPart(host), ...waking, backtestsPart(host)]);
        },
      },
      // Without access to the API of GitHub there is nothing to ask.
      ...(context.settings.sourceHosts.github
        ? [{ role: "scheduler" as const, start: async () => startReconciling(host) }]
        : []),
      ...(isScheduler ? [] : [{ role: "every server" as const, start: () => startWatch(host) }]),
    ],
  };
}

/** Addresses of the embedded git host change with those of its servers. */
export function repositoriesOf({
  checkAtCreation,
  githost,
  hookDeliveries,
  sources,
}: Omit<AutomationsOptions["repositories"], "diffs">) {
  return {
    checkRepositories: checkAtCreation,
    sources,
    hookDeliveries,
    shownRepository(url: string): string {
      const own = githost.readCloneUrl(url);
      return own ? githost.cloneUrl(own.name) : url;
    },
    isHosted: (url: string): boolean => githost.readCloneUrl(url) !== undefined,
    pullRequestUrl(url: string, number: number): string {
      const own = githost.readCloneUrl(url);
      return own ? githost.pullRequestUrl(own.name, number) : `${withoutSuffix(url)}/pull/${number}`;
    },
  } satisfies Partial<AutomationHost>;
}

const withoutSuffix = (url: string): string => url.replace(/\/+$/, "").replace(/\.git$/, "");

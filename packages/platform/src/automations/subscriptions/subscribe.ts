// Makes a subscription for an agent: for people over HTTP, and for the agent itself with a tool.
import type { SubscriptionFilter } from "@agentcli/protocol/api";
import { ApiError, teamKey } from "../../foundation/index.ts";
import type { AutomationHost } from "../host.ts";
import { insertSubscription, type StoredFilter, type SubscriptionRow } from "./store.ts";

export interface SubscribeRequest {
  agent: { id: string; team_id: number; settings: { repos: { url: string }[] } };
  filter: SubscriptionFilter;
  days: number;
  createdBy: string;
  /** Whom wake-ups act for: they must not do more than who subscribed could. */
  actsAs: string | null;
}

/** Throws ApiError. */
export async function subscribe(
  host: AutomationHost,
  { agent, filter, days, createdBy, actsAs }: SubscribeRequest,
  signal: AbortSignal,
): Promise<SubscriptionRow> {
  const { db, vault } = host.platform;
  const stored = filter.source === "timer" ? checkTimer(filter) : await checkHost(host, { agent, filter }, signal);
  const context = { db, key: await teamKey(db, vault, agent.team_id), now: host.now() };
  const owned = { agentId: agent.id, teamId: agent.team_id, createdBy, actsAs };
  return insertSubscription(context, { ...owned, filter: stored, days });
}

function checkTimer(filter: Extract<SubscriptionFilter, { source: "timer" }>): StoredFilter {
  if ((filter.cron === undefined) === (filter.delaySeconds === undefined))
    throw new ApiError("validation_error", "filter: a timer has either delaySeconds or cron.");
  return filter;
}

interface HostRequest {
  agent: SubscribeRequest["agent"];
  filter: Extract<SubscriptionFilter, { source: "source_host" }>;
}

/** An agent hears of its own repositories alone: those that its user may read. */
async function checkHost(
  host: AutomationHost,
  { agent, filter }: HostRequest,
  signal: AbortSignal,
): Promise<StoredFilter> {
  const { shownRepository } = host;
  const own = agent.settings.repos.find(
    ({ url }) => bare(shownRepository(url)) === bare(shownRepository(filter.repoUrl)),
  );
  if (own === undefined) throw new ApiError("validation_error", "filter.repoUrl: is not a repository of the agent.");
  if (filter.pullRequest === undefined) return { ...filter, repoUrl: own.url };
  const { pullRequests } = await host.sources.open(agent.team_id, own.url);
  const pull = await pullRequests?.read(host.pullRequestUrl(own.url, filter.pullRequest), signal);
  if (!pull) throw new ApiError("validation_error", `filter.pullRequest: the repository has no ${filter.pullRequest}.`);
  return { ...filter, repoUrl: own.url, headBranch: pull.head };
}

const bare = (url: string): string =>
  url
    .toLowerCase()
    .replace(/\/+$/, "")
    .replace(/\.git$/, "");

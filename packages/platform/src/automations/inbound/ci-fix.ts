// The automatic fix of failed checks on pull requests that agents made. It is a subscription of the agent, so that it is
// listed, woken, counted and cancelled like any other; people turn it off and on with a comment.
import { type CauseLink, type Queries, teamKey } from "../../foundation/index.ts";
import { readAutofix } from "../../identity/index.ts";
import type { AutomationHost } from "../host.ts";
import {
  expiry,
  insertEvent,
  insertSubscription,
  maxDays,
  openFilter,
  type SubscriptionRow,
  sealFilter,
} from "../subscriptions/store.ts";
import { type AgentPull, findPull } from "./agent-pulls.ts";
import { failsOnBase, rememberCheck } from "./branch-checks.ts";
import { agentBehind, type CausedEvent } from "./cause.ts";
import type { SourceEvent } from "./github.ts";
import { type FixFacts, judgeFix, readToggle } from "./judge-fix.ts";

export interface FixEvent extends CausedEvent {
  /** Of the delivery. */
  eventId: string;
  sourceId: string;
  causes: CauseLink[];
}

/** In the transaction that processes the event. */
export async function applyFix(host: AutomationHost, tx: Queries, fix: FixEvent): Promise<void> {
  const { event } = fix;
  if (event.event === "pull_request.comment") return toggle(host, tx, fix);
  if (event.event === "pull_request.merged" || event.event === "pull_request.closed") return endWithPull(host, tx, fix);
  if (event.event === "pull_request.opened" && event.action === "reopened") return resume(host, tx, fix);
  if (event.event !== "check.completed" && event.event !== "workflow_run.completed") return;
  if (event.pullRequest?.isFork || isOwnCheck(host, fix)) return;
  await rememberCheck(tx, fix.sourceId, event);
  const pull = await findPull(host, tx, { ...fix, by: { branch: event.branch ?? "" } });
  if (pull === null) return;
  const subscription = await findFix(host, tx, pull);
  const verdict = judgeFix(await readFacts(host, tx, { fix, pull, subscription }));
  if (verdict.kind === "ignored") return;
  if (verdict.kind === "stopped") {
    if (subscription) await stop(tx, subscription.id, `Stopped: ${verdict.reason}.`);
    return;
  }
  const active = subscription ?? (await begin(host, tx, pull));
  const context = await contextOf(host, tx, pull.teamId);
  const entry = JSON.stringify({
    ...{ event: event.event, repository: event.repositoryUrl, pullRequest: pull.number, branch: event.branch },
    ...{ check: event.check, conclusion: event.conclusion, commit: event.commit },
    log: (event.log ?? event.text).slice(-8_000),
  });
  await insertEvent(context, { subscription: active, eventId: `${fix.eventId} ci_fix`, entry, causes: fix.causes });
}

/** The platform shows the status of runs as checks: that a run has failed is not for the agent to fix. */
function isOwnCheck({ platform: { settings } }: AutomationHost, { source, event }: FixEvent): boolean {
  const credentials = settings.sourceHosts.github?.credentials;
  return source.type === "github" && credentials?.kind === "app" && credentials.appId === event.app;
}

/** Its checks are of no use then. */
async function endWithPull(host: AutomationHost, tx: Queries, fix: FixEvent): Promise<void> {
  const pull = await findPull(host, tx, { ...fix, by: { url: fix.event.pullRequest?.url ?? "" } });
  if (pull === null) return;
  // One that had not begun is known as stopped: a check may fail after the merge.
  const subscription = (await findFix(host, tx, pull)) ?? (await begin(host, tx, pull));
  await stop(tx, subscription.id, fix.event.event === "pull_request.merged" ? merged : closed);
}

const merged = "Stopped: the pull request was merged.";
const closed = "Stopped: the pull request was closed.";
export const ofEndedPull = [merged, closed];

/** Only what the end of the pull request has stopped; it goes on counting. */
async function resume(host: AutomationHost, tx: Queries, fix: FixEvent): Promise<void> {
  const pull = await findPull(host, tx, { ...fix, by: { url: fix.event.pullRequest?.url ?? "" } });
  const subscription = pull && (await findFix(host, tx, pull));
  if (subscription?.ended_reason !== closed) return;
  await tx
    .updateTable("subscriptions")
    .set({ status: "active", ended_reason: null })
    .where("id", "=", subscription.id)
    .execute();
}

const contextOf = async ({ platform, now }: AutomationHost, tx: Queries, teamId: number) => ({
  ...{ db: tx, key: await teamKey(tx, platform.vault, teamId), now: now() },
});

/** Whatever its status. */
async function findFix(
  host: AutomationHost,
  tx: Queries,
  { agentId, teamId, number, repoUrl }: AgentPull,
): Promise<SubscriptionRow | null> {
  const query = tx.selectFrom("subscriptions").selectAll().where("agent_id", "=", agentId);
  const rows = await query.where("source", "=", "ci_fix").orderBy("created_at").forUpdate().execute();
  const { key } = await contextOf(host, tx, teamId);
  const isSame = (row: SubscriptionRow) => {
    const filter = openFilter(key, row);
    return filter.source === "ci_fix" && filter.pullRequest === number && filter.repoUrl === repoUrl;
  };
  return rows.find(isSame) ?? null;
}

async function begin(host: AutomationHost, tx: Queries, pull: AgentPull): Promise<SubscriptionRow> {
  const { agentId, teamId } = pull;
  const owned = { agentId, teamId, createdBy: "platform", actsAs: null };
  const context = await contextOf(host, tx, teamId);
  return insertSubscription(context, { ...owned, filter: await filterOf(tx, pull), days: maxDays });
}

const filterOf = async (tx: Queries, { agentId, repoUrl, number, branch }: AgentPull) => ({
  ...{ source: "ci_fix" as const, repoUrl, pullRequest: number, headBranch: branch },
  sinceRun: Math.max(0, ...(await runsOf(tx, agentId)).map((run) => run.number)),
});

const runsOf = (tx: Queries, agentId: string) =>
  tx
    .selectFrom("runs")
    .leftJoin("wake_ups", "wake_ups.id", "runs.request_id")
    .select(["runs.number", "wake_ups.id as wakeUpId"])
    .where("runs.agent_id", "=", agentId)
    .execute();

interface FactsRequest {
  fix: FixEvent;
  pull: AgentPull;
  subscription: SubscriptionRow | null;
}

async function readFacts(
  host: AutomationHost,
  tx: Queries,
  { fix, pull, subscription }: FactsRequest,
): Promise<FixFacts> {
  const { event } = fix;
  const { key } = await contextOf(host, tx, pull.teamId);
  const filter = subscription && openFilter(key, subscription);
  const pushed = await tx
    .selectFrom("handoff_checks")
    .innerJoin("runs", "runs.id", "handoff_checks.run_id")
    .select("commit_name")
    .where("runs.agent_id", "=", pull.agentId)
    .where("repo_url", "=", pull.storedUrl)
    .execute();
  return {
    ...{ conclusion: event.conclusion, commit: event.commit, latest: pull.pushedCommit },
    pushed: pushed.map(({ commit_name }) => commit_name),
    state: subscription === null ? "new" : subscription.status === "active" ? "active" : "stopped",
    hasFollowUp: filter?.source === "ci_fix" && (await hasFollowUp(tx, pull.agentId, filter.sinceRun)),
    failsOnBase: await failsOnBase(tx, fix.sourceId, { event, base: pull.base }),
    fixes: subscription?.wake_ups ?? 0,
    isEnabled: (filter?.source === "ci_fix" && filter.turnedOn === true) || (await readAutofix(tx, pull)),
  };
}

/** A run since the fix began that no event has started. */
async function hasFollowUp(tx: Queries, agentId: string, sinceRun: number): Promise<boolean> {
  return (await runsOf(tx, agentId)).some(({ number, wakeUpId }) => number > sinceRun && wakeUpId === null);
}

/** What waits is dropped; the pull request and the agent say why. */
async function stop(tx: Queries, id: string, reason: string): Promise<void> {
  await tx
    .updateTable("subscriptions")
    .set({ status: "cancelled", ended_reason: reason })
    .where("id", "=", id)
    .where("status", "=", "active")
    .execute();
  await tx.deleteFrom("subscription_events").where("subscription_id", "=", id).where("batch_id", "is", null).execute();
}

async function toggle(host: AutomationHost, tx: Queries, fix: FixEvent): Promise<void> {
  const { event } = fix;
  const wanted = readToggle(event.text);
  // Agents do not decide about it, nor does anyone who can only comment.
  if (wanted === null || agentBehind(fix) !== null || !mayToggle(event)) return;
  const pull = await findPull(host, tx, { ...fix, by: { url: event.pullRequest?.url ?? "" } });
  if (pull === null) return;
  const subscription = (await findFix(host, tx, pull)) ?? (await begin(host, tx, pull));
  const by = `turned ${wanted} by ${event.sender?.login ?? "a comment"}`;
  if (wanted === "off") return stop(tx, subscription.id, `Stopped: ${by}.`);
  const { key, now } = await contextOf(host, tx, pull.teamId);
  const filter = sealFilter(key, subscription.id, { ...(await filterOf(tx, pull)), turnedOn: true });
  await tx
    .updateTable("subscriptions")
    .set({ status: "active", ended_reason: null, wake_ups: 0, filter, expires_at: expiry(now, maxDays) })
    .where("id", "=", subscription.id)
    .execute();
}

/** Where the host cannot be asked, what the delivery says counts; the embedded host has members of the team alone. */
const mayToggle = ({ association, permission, failure }: SourceEvent): boolean =>
  permission === null
    ? association === null || (failure === null && ["OWNER", "MEMBER", "COLLABORATOR"].includes(association))
    : permission === "push";

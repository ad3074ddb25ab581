// The tools that the platform gives to the run of an automation. Which automation it is, only the record of the firing says.
import type { Tool } from "@agentcli/engine";
import { sql } from "kysely";
import { teamKey } from "../../foundation/index.ts";
import type { PullRequest } from "../../repositories/index.ts";
import { type Definition, openDefinition } from "../definition.ts";
import type { AutomationHost } from "../host.ts";
import { openMemories } from "../memories/store.ts";
import { recordProposal } from "../proposals/store.ts";
import { startedAgents } from "../started-agents.ts";
import type { AutomationRow } from "../store.ts";
import { endSubscription, listSubscriptions, maxDays } from "../subscriptions/store.ts";
import { subscribe } from "../subscriptions/subscribe.ts";
import { subscriptionOf } from "../subscriptions/view.ts";
import { memoryTools } from "./memory-tools.ts";
import { mentionTools } from "./mention-tools.ts";
import { type ProposedCall, proposingServers, proposingTools } from "./proposing-tools.ts";
import { pullRequestTools } from "./pull-request-tools.ts";
import { reviewerTool } from "./reviewer-tool.ts";
import { subscriptionTools } from "./subscription-tools.ts";

export interface RunOfAgent {
  agentId: string;
  teamId: number;
  /** Which client created the agent. */
  source: string;
  repositories: { url: string }[];
  /** A plan changes nothing, so it has no tools that do. */
  mode: "agent" | "plan";
  /** Absent: it writes; else what it would write is recorded. */
  effects?: "shadow" | "backtest" | undefined;
  /** MCP servers whose calls are recorded. */
  proposedServers?: string[];
  /** Removes secrets from what leaves the run. */
  scrub(text: string): string;
}

export async function toolsOfRun(host: AutomationHost, run: RunOfAgent): Promise<Tool[]> {
  if (run.mode === "plan") return [];
  const [own, mentioned] = await Promise.all([toolsOfAutomation(host, run), mentionTools(host, run)]);
  const names = own.map(({ name }) => name);
  const answering = mentioned.filter(({ name }) => !names.includes(name));
  const tools = [...own, ...answering, ...waitingTools(host, run)];
  if (run.effects === undefined) return tools;
  const { agentId, teamId, scrub, proposedServers = [] } = run;
  const record = (call: ProposedCall) => recordProposal(host.platform, { ...call, agentId, teamId });
  return [...proposingTools(tools, { record, scrub }), ...proposingServers(proposedServers, { record, scrub })];
}

/** For any agent. */
function waitingTools(host: AutomationHost, { agentId, teamId, repositories }: RunOfAgent): Tool[] {
  const { db, vault } = host.platform;
  const createdBy = `agent:${agentId}`;
  const agent = { id: agentId, team_id: teamId, settings: { repos: repositories } };
  const end = { status: "cancelled", reason: "Cancelled by the agent." } as const;
  return subscriptionTools({
    repositories: repositories.map(({ url }) => url),
    subscribe: async (filter, signal) =>
      subscriptionOf(
        await teamKey(db, vault, teamId),
        await subscribe(
          host,
          { agent, filter, days: maxDays, createdBy, actsAs: await requesterOf(host, agentId) },
          signal,
        ),
      ),
    async list() {
      const key = await teamKey(db, vault, teamId);
      const rows = await listSubscriptions(db, agentId);
      return rows.filter(({ status }) => status === "active").map((row) => subscriptionOf(key, row));
    },
    cancel: (id) => endSubscription(db, { id, agentId }, end),
  });
}

/** Who asked for the run that is active: a wake-up must not do more than they could. */
async function requesterOf({ platform: { db } }: AutomationHost, agentId: string): Promise<string | null> {
  const run = await db
    .selectFrom("runs")
    .innerJoin("agents", "agents.latest_run_id", "runs.id")
    .select(["runs.user_id", "runs.service_account_id"])
    .where("agents.id", "=", agentId)
    .executeTakeFirst();
  if (run?.user_id) return `user:${run.user_id}`;
  return run?.service_account_id ? `service_account:${run.service_account_id}` : null;
}

/** None for an agent that no automation started. */
async function toolsOfAutomation(host: AutomationHost, run: RunOfAgent): Promise<Tool[]> {
  if (run.source !== "AUTOMATION") return [];
  const automation = await findAutomationOf(host, run);
  if (automation === undefined) return [];
  const { db, vault } = host.platform;
  const key = await teamKey(db, vault, automation.team_id);
  const definition = openDefinition(key, automation);
  const author = `agent:${run.agentId}`;
  const { memories = true, commentOnPullRequest, requestReviewers } = definition.tools;
  return [
    ...(memories
      ? memoryTools({ memories: openMemories({ db, key, automationId: automation.id }), author, scrub: run.scrub })
      : []),
    ...(commentOnPullRequest?.enabled ? toolsOnPulls(host, { automation, definition, run, author }) : []),
    ...(requestReviewers ? toolsForReviews(host, { automation, definition, run, author }) : []),
  ];
}

/** Firings outlive their agents, whose ids are free again then; and an automation that was promoted has another owner. */
const findAutomationOf = (
  { platform: { db } }: AutomationHost,
  { agentId, effects }: RunOfAgent,
): Promise<AutomationRow | undefined> =>
  db
    .selectFrom(startedAgents(db))
    .innerJoin("automations", "automations.id", "started.automation_id")
    .innerJoin("agents", "agents.id", "started.agent_id")
    .selectAll("automations")
    .where("started.agent_id", "=", agentId)
    .whereRef("agents.team_id", "=", "automations.team_id")
    .where(sql<boolean>`agents.user_id is not distinct from automations.user_id`)
    // A back-test writes nothing: it may be done before the automation is enabled.
    .where("automations.enabled", "in", effects === "backtest" ? [true, false] : [true])
    .executeTakeFirst();

interface PullContext {
  automation: AutomationRow;
  definition: Definition;
  run: RunOfAgent;
  author: string;
}

function toolsOnPulls(host: AutomationHost, { automation, definition, run, author }: PullContext): Tool[] {
  const { target, tools } = definition;
  if (target.type !== "repo") return [];
  const { team_id: teamId, id } = automation;
  return pullRequestTools({
    open: async () => (await host.sources.open(teamId, target.repoUrl)).pullRequests,
    urlOf: (number) => host.pullRequestUrl(target.repoUrl, number),
    isOwn: (pull) => isOwnPull(host, id, pull),
    approvals: approvalsOf(tools),
    author,
    scrub: run.scrub,
  });
}

function approvalsOf({ commentOnPullRequest }: Definition["tools"]): "none" | "others" | "all" {
  if (!commentOnPullRequest?.allowApprovals) return "none";
  return commentOnPullRequest.allowOwnPullRequests ? "all" : "others";
}

function toolsForReviews(host: AutomationHost, { automation, definition, run, author }: PullContext): Tool[] {
  const { target } = definition;
  if (target.type !== "repo") return [];
  const open = () => host.sources.open(automation.team_id, target.repoUrl);
  const tool = reviewerTool({
    open: async () => (await open()).pullRequests,
    inquiries: async () => (await open()).inquiries,
    urlOf: (number) => host.pullRequestUrl(target.repoUrl, number),
    ...{ author, scrub: run.scrub },
  });
  return [tool];
}

/** By its branch as well: the record of an address may still be on its way. Also of firings and agents that are gone. */
async function isOwnPull(
  { platform: { db } }: AutomationHost,
  automationId: string,
  pull: PullRequest,
): Promise<boolean> {
  const row = await db
    .selectFrom("automation_branches")
    .select("branch")
    .where("automation_id", "=", automationId)
    .where(({ or, eb }) => or([eb("pr_url", "=", pull.url), eb("branch", "=", pull.head)]))
    .executeTakeFirst();
  return row !== undefined;
}

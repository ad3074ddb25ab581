// A fork: a new agent with the conversation of another up to one of its runs, and with the files that were committed until then.
import type { StoredRecord } from "@agentcli/engine";
import type { ForkAgent, ForkPreview } from "@agentcli/protocol/api";
import { ApiError, type PlatformContext } from "../../foundation/index.ts";
import { type Principal, relationOf } from "../../identity/index.ts";
import { commitsAfter } from "../../repositories/index.ts";
import { openPrivateSettings, type PrivateSettings, readThreadRecords, threadOf } from "../../runs/index.ts";
import { findRun } from "../store.ts";
import type { ListedAgent, RunRow } from "../views/views.ts";
import type { ForkedConversation } from "./forked-conversation.ts";
import type { CreateAgentRequest } from "./insert.ts";

export interface ForkRequest {
  principal: Principal;
  /** One that the principal may read. */
  agent: ListedAgent;
  runId: string | undefined;
  /** A repository URL as shown to users. */
  shown(url: string): string;
}

export interface ForkPlan extends ForkRequest {
  hidden: PrivateSettings;
  conversation: ForkedConversation;
  /** The run after which the original is copied. */
  run: RunRow;
}

/** Throws `run_not_found`, and `nothing_to_fork` where no run of the agent has ended until then. */
export async function planFork({ db, vault }: PlatformContext, request: ForkRequest): Promise<ForkPlan> {
  const { agent, shown } = request;
  const key = await vault.unwrap(agent.data_key);
  const runs = await db.selectFrom("runs").selectAll().where("agent_id", "=", agent.id).orderBy("number").execute();
  const last = request.runId === undefined ? runs.at(-1) : await findRun(db, agent.id, request.runId);
  const records: StoredRecord[] = [];
  for await (const page of readThreadRecords(db, key, threadOf(agent.id))) records.push(...page);
  const ended = new Set(records.flatMap(({ record }) => (record.type === "turn.ended" ? record.turnId : [])));
  const isCopied = ({ id, number, ended_at }: RunRow) =>
    ended_at !== null && ended.has(id) && number <= (last?.number ?? 0);
  const run = runs.findLast(isCopied);
  if (!run || (request.runId !== undefined && run.id !== last?.id))
    throw new ApiError("nothing_to_fork", unforkable(agent, request.runId));
  const commits = await commitsAfter(db, { agentId: agent.id, runNumber: run.number });
  const starts = agent.settings.repos.flatMap(({ url }) => {
    const found = commits.find(({ repo_url }) => repo_url === shown(url));
    return found ? { url, commit: found.commit, baseBranch: found.base_branch } : [];
  });
  return {
    ...request,
    run,
    hidden: openPrivateSettings(agent.id, key, agent.private_settings),
    conversation: { records, lastTurnId: run.id, settings: { agentId: agent.id, runId: run.id, starts } },
  };
}

const unforkable = ({ id }: ListedAgent, runId: string | undefined) =>
  runId === undefined
    ? `Agent ${id} has no run that has ended; wait for it, then fork.`
    : `Run ${runId} has no end to fork from: it is still active, or was ended before it began. Wait for it, or choose another run.`;

/** Variables and MCP servers may hold secrets of the owner: in the fork of another person they are missing. */
export function requestOf(
  { principal, agent, hidden, conversation }: ForkPlan,
  request: ForkAgent,
): CreateAgentRequest {
  const { settings } = agent;
  const { customSubagents, envVars, mcpServers } = hidden;
  const { runId: _, model = settings.model, mode = settings.mode, autoCreatePR = settings.autoCreatePR } = request;
  return {
    ...request,
    ...{ model, mode, autoCreatePR, customSubagents, fork: conversation },
    repos: settings.repos,
    env: settings.env,
    // One that only proposes stays so.
    effects: settings.effects,
    skipReviewerRequest: settings.skipReviewerRequest,
    recordRuns: settings.recordRuns,
    ...(relationOf(principal, agent) === "owner" && { envVars, mcpServers }),
  };
}

export function previewOf({ agent, run, shown, conversation }: ForkPlan): ForkPreview {
  const { starts } = conversation.settings;
  const { repos } = agent.settings;
  const repositories = repos.map(({ url }) => {
    const start = starts.find((one) => one.url === url);
    return { url, ...(start && { commit: start.commit, baseBranch: start.baseBranch }) };
  });
  const at = repositories.map(({ url, commit }) => `${shown(url)} at ${commit?.slice(0, 12) ?? "its starting point"}`);
  const unfinished = run.status === "FINISHED" ? "" : " What the last run changed is missing: it did not finish.";
  return {
    runId: run.id,
    messages: countMessages(conversation),
    repositories,
    files:
      repos.length === 0
        ? "The fork starts with an empty workspace: only what is committed to a repository is copied."
        : `The fork starts with ${at.join(", ")}.${unfinished} Files that were never committed, running processes and sub-agents are not copied.`,
  };
}

/** Of people and of the agent, as `GET …/conversation` counts them. */
function countMessages({ records, lastTurnId }: ForkedConversation): number {
  const end = records.findLastIndex(({ record }) => record.type === "turn.ended" && record.turnId === lastTurnId);
  return records.slice(0, end + 1).reduce((count, { record }) => {
    if (record.type === "model.replied")
      return count + record.blocks.filter((block) => block.type === "message" && block.text !== "").length;
    return (
      count + (record.type === "turn.begun" || (record.type === "input.added" && record.origin === "user") ? 1 : 0)
    );
  }, 0);
}

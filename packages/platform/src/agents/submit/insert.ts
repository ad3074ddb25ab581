// Inserts an agent with its first run, or a follow-up run, within a transaction.
import { randomUUID } from "node:crypto";
import type { CreateAgent, CreateRun } from "@agentcli/protocol/api";
import { withoutUnprintable } from "@agentcli/protocol/names";
import { needsWorker } from "../../fleet/index.ts";
import { type AgentSettings, ApiError, type PlatformContext } from "../../foundation/index.ts";
import { type Principal, refuseFormerOwner, refuseFormerUser, refuseRemovedUser } from "../../identity/index.ts";
import { insertWebhook, type NewWebhook } from "../../integrations/index.ts";
import { branchName } from "../../repositories/index.ts";
import {
  agentNameAad,
  copyThread,
  findUnpriced,
  identifyModel,
  insertRun,
  leftToSpend,
  modelsOfSubagents,
  type NewRun,
  newRunId,
  type PrivateSettings,
  priceUnknown,
  privateSettingsAad,
  type RunRequest,
  spendLimitReached,
  type UsedModel,
} from "../../runs/index.ts";
import { lockAgent, type Transaction } from "../store.ts";
import type { ForkedConversation } from "./forked-conversation.ts";

/** Who creates an agent or a run, and through which client. */
export interface Requester {
  principal: Principal;
  requestId: string;
  /** As stored with the agent: API, SDK or WEBSITE. */
  source: string;
  /** The trace that the run is part of, as W3C Trace Context writes it. */
  traceparent?: string | undefined;
  /** What the run may cost, beside the limits of its user and team. */
  budgetUsd?: number | undefined;
}

export interface CreatedIds {
  agentId: string;
  runId: string;
}

/** What any client can request: v1, v0 and pages translate into it. */
export type CreateAgentRequest = Omit<CreateAgent, "webhook"> & {
  branchName?: string | undefined;
  webhook?: NewWebhook | undefined;
  /** Of automations alone. */
  effects?: AgentSettings["effects"];
  fork?: ForkedConversation | undefined;
};

export interface CreateContext {
  tx: Transaction;
  platform: PlatformContext;
  requester: Requester;
}

export async function insertAgent(context: CreateContext, body: CreateAgentRequest): Promise<CreatedIds> {
  const { tx, platform, requester } = context;
  await checkSpend(context, [{ id: body.model?.id }, ...modelsOfSubagents(body.customSubagents ?? [])]);
  const agentId = body.agentId?.toLowerCase() ?? `bc-${randomUUID()}`;
  const { wrapped, key } = await platform.vault.newDataKey();
  const request: RunRequest = {
    prompt: { text: body.prompt.text, images: body.prompt.images ?? [] },
    mode: body.mode ?? "agent",
    envVars: body.runEnvVars ?? {},
    ...(requester.traceparent && { traceparent: requester.traceparent }),
    ...(requester.budgetUsd !== undefined && { budgetUsd: requester.budgetUsd }),
  };
  const hidden: PrivateSettings = {
    envVars: body.envVars ?? {},
    mcpServers: body.mcpServers ?? [],
    customSubagents: body.customSubagents ?? [],
    metadata: body.metadata ?? {},
  };
  const now = new Date();
  const runId = newRunId();
  await refuseFormer(requester, tx);
  const inserted = await tx
    .insertInto("agents")
    .values({
      id: agentId,
      ...ownerOf(requester.principal),
      name: key.seal(body.name ?? nameFrom(body.prompt.text), agentNameAad(agentId)),
      // An id that the client chose may have been another agent's, whose directories are still being removed.
      directory: body.agentId === undefined ? agentId : `bc-${randomUUID()}`,
      data_key: wrapped,
      settings: JSON.stringify(settingsOf(agentId, body, requester.principal)),
      private_settings: key.seal(JSON.stringify(hidden), privateSettingsAad(agentId)),
      source: requester.source,
      archived_at: null,
      latest_run_id: runId,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .returning("id")
    .executeTakeFirst();
  if (!inserted) throw new ApiError("agent_id_conflict", `agentId: agent ${agentId} already exists.`);
  if (body.fork) await copyThread(tx, { agentId, key, ...body.fork });
  if (body.webhook) await insertWebhook(tx, { agentId, key, webhook: body.webhook });
  await startRun(context, {
    ...{ id: runId, agentId, key, request, number: 1, now, needsWorker: needsWorker(body.env) },
    model: identifyModel(body.model?.id, platform.settings),
  });
  return { agentId, runId };
}

export async function insertFollowUp(
  context: CreateContext,
  agentId: string,
  body: CreateRunRequest,
): Promise<CreatedIds> {
  const { tx, platform } = context;
  // One after another: the number of a run counts those before it.
  const agent = await lockAgent(tx, agentId);
  if (!agent) throw new ApiError("agent_not_found", `There is no agent ${agentId}.`);
  await checkSpend(context, [{ id: (body.model ?? agent.settings.model)?.id }]);
  if (agent.archived_at) throw new ApiError("agent_archived", `Agent ${agentId} is archived; unarchive it first.`);
  const { last } = await tx
    .selectFrom("runs")
    .select(({ fn }) => fn.max("number").as("last"))
    .where("agent_id", "=", agentId)
    .executeTakeFirstOrThrow();
  const request: RunRequest = {
    prompt: { text: body.prompt.text, images: body.prompt.images ?? [] },
    mode: body.mode ?? agent.settings.mode,
    ...(body.model && { model: body.model }),
    ...(body.mcpServers && { mcpServers: body.mcpServers }),
    envVars: body.envVars ?? {},
    ...(body.inbox && { inbox: body.inbox }),
    ...(context.requester.traceparent && { traceparent: context.requester.traceparent }),
    ...(context.requester.budgetUsd !== undefined && { budgetUsd: context.requester.budgetUsd }),
  };
  await refuseFormer(context.requester, tx);
  const key = await platform.vault.unwrap(agent.data_key);
  // They stay for the runs behind it.
  const { mode, model = agent.settings.model } = request;
  const runId = newRunId();
  const now = new Date();
  await startRun(context, {
    ...{ id: runId, agentId, key, request, number: (last ?? 0) + 1, now },
    needsWorker: needsWorker(agent.settings.env),
    model: identifyModel(model?.id, platform.settings),
  });
  const isChanged = mode !== agent.settings.mode || body.model !== undefined;
  const settings = { ...agent.settings, mode, ...(model && { model }) };
  await tx
    .updateTable("agents")
    .set({ latest_run_id: runId, updated_at: now, ...(isChanged && { settings: JSON.stringify(settings) }) })
    .where("id", "=", agentId)
    .execute();
  return { agentId, runId };
}

/** What starts runs without a request of a user. */
const ofPlatform = ["AUTOMATION", "SUBSCRIPTION", "MENTION"];

/** The user may have been removed since this began, or the owner of an address have proved it for one who joined by a link. */
async function refuseFormer({ principal, source }: Requester, tx: Transaction): Promise<void> {
  await (ofPlatform.includes(source) ? refuseFormerOwner(tx, principal) : refuseFormerUser(tx));
  await refuseRemovedUser(tx, principal);
}

/** `inbox`: a file below the home directory of the agent, written before the run begins. */
export type CreateRunRequest = CreateRun & { inbox?: RunRequest["inbox"] };

/** Throws `agent_busy` where the agent has an active run. */
async function startRun({ tx, requester }: CreateContext, run: Omit<NewRun, "owner" | "requestId">): Promise<void> {
  const { principal, requestId } = requester;
  if (!(await insertRun(tx, { ...run, owner: ownerOf(principal), requestId })))
    throw new ApiError("agent_busy", `Agent ${run.agentId} already has an active run; wait for it or cancel it.`);
}

const ownerOf = (principal: Principal) => ({
  team_id: principal.teamId,
  user_id: principal.kind === "user" ? principal.userId : null,
  service_account_id: principal.kind === "service_account" ? principal.serviceAccountId : null,
});

function settingsOf(agentId: string, body: CreateAgentRequest, principal: Principal): AgentSettings {
  return {
    ...(body.model && { model: body.model }),
    mode: body.mode ?? "agent",
    ...(body.env && { env: body.env }),
    repos: body.repos ?? [],
    workOnCurrentBranch: body.workOnCurrentBranch ?? false,
    autoCreatePR: body.autoCreatePR ?? false,
    skipReviewerRequest: body.skipReviewerRequest ?? false,
    openAsApp: body.openAsPlatformGithubApp ?? body.openAsCursorGithubApp ?? principal.kind === "service_account",
    ...(body.recordRuns && { recordRuns: true }),
    ...(body.effects && { effects: body.effects }),
    ...(body.fork && { fork: body.fork.settings }),
    // Names of branches are published with the code and cannot be sealed: they tell nothing of prompt or name.
    branchName: body.branchName ?? branchName("", agentId),
  };
}

/** What is asked of sub-agents that are made later is seen when the run begins. */
async function checkSpend(
  { tx, platform, requester: { principal } }: CreateContext,
  models: UsedModel[],
): Promise<void> {
  const userId = principal.kind === "user" ? principal.userId : null;
  const left = await leftToSpend(tx, { teamId: principal.teamId, userId });
  if (left === 0) throw new ApiError("spend_limit_reached", spendLimitReached);
  const model = left === null ? null : findUnpriced(models, platform.settings);
  if (model !== null) throw new ApiError("invalid_model", priceUnknown(model));
}

const maxNameLength = 60;

/** The first line of the prompt, cut at a word. */
function nameFrom(prompt: string): string {
  const line = withoutUnprintable(prompt.trim().split("\n", 1)[0] ?? "").trim() || "Agent";
  if (line.length <= maxNameLength) return line;
  const cut = line.slice(0, maxNameLength);
  return `${cut.slice(0, cut.lastIndexOf(" ") > 20 ? cut.lastIndexOf(" ") : maxNameLength)}…`;
}

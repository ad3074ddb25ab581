// A new agent with its first run, and a follow-up run: one transaction each, and nothing of them where it fails.
import { randomUUID } from "node:crypto";
import type { CreateAgent, CreateRun } from "@agentcli/protocol/api";
import { type AgentSettings, notify } from "../db/index.ts";
import { ApiProblem } from "../http/index.ts";
import type { Platform } from "../platform.ts";
import type { Principal } from "../principals/index.ts";
import {
  findUnpriced,
  leftToSpend,
  modelsOfSubagents,
  namePlace,
  type PrivateSettings,
  privateSettingsPlace,
  type RunRequest,
  requestPlace,
  unpriced,
} from "../runs/index.ts";
import type { DataKey } from "../vault/index.ts";
import { insertWebhook, type NewWebhook } from "../webhooks/index.ts";
import { branchName } from "../workspaces/index.ts";
import { lockAgent, type Transaction } from "./store.ts";

export interface Asking {
  principal: Principal;
  requestId: string;
  /** API, or SDK where the client says so. */
  source: string;
}

export interface CreatedIds {
  agentId: string;
  runId: string;
}

/** What either version of the API can ask for. */
export type NewAgent = Omit<CreateAgent, "webhook"> & {
  branchName?: string | undefined;
  webhook?: NewWebhook | undefined;
};

/** In a transaction, together with whatever else must happen with it. */
export interface Making {
  tx: Transaction;
  platform: Platform;
  asking: Asking;
}

export async function createAgent({ tx, platform, asking }: Making, body: NewAgent): Promise<CreatedIds> {
  await checkSpend({ tx, platform, asking }, [body.model?.id, ...modelsOfSubagents(body.customSubagents ?? [])]);
  const agentId = body.agentId?.toLowerCase() ?? `bc-${randomUUID()}`;
  const { wrapped, key } = await platform.vault.newDataKey();
  const request: RunRequest = {
    prompt: { text: body.prompt.text, images: body.prompt.images ?? [] },
    mode: body.mode ?? "agent",
    envVars: body.runEnvVars ?? {},
  };
  const hidden: PrivateSettings = {
    envVars: body.envVars ?? {},
    mcpServers: body.mcpServers ?? [],
    customSubagents: body.customSubagents ?? [],
    metadata: body.metadata ?? {},
  };
  const now = new Date();
  const inserted = await tx
    .insertInto("agents")
    .values({
      id: agentId,
      ...ownerOf(asking.principal),
      name: key.seal(body.name ?? nameFrom(body.prompt.text), namePlace(agentId)),
      data_key: wrapped,
      settings: JSON.stringify(settingsOf(agentId, body, asking.principal)),
      private_settings: key.seal(JSON.stringify(hidden), privateSettingsPlace(agentId)),
      source: asking.source,
      archived_at: null,
      latest_run_id: null,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .returning("id")
    .executeTakeFirst();
  if (!inserted) throw new ApiProblem("agent_id_conflict", `agentId: there is an agent ${agentId} already.`);
  if (body.webhook) await insertWebhook(tx, { agentId, key, webhook: body.webhook });
  const runId = await insertRun(tx, { agentId, key, request, number: 1, now, asking });
  return { agentId, runId };
}

export async function createRun(
  { tx, platform, asking }: Making,
  agentId: string,
  body: CreateRun,
): Promise<CreatedIds> {
  // One after another: the number of a run counts those before it.
  const agent = await lockAgent(tx, agentId);
  if (!agent) throw new ApiProblem("agent_not_found", `There is no agent ${agentId}.`);
  await checkSpend({ tx, platform, asking }, [(body.model ?? agent.settings.model)?.id]);
  if (agent.archived_at) throw new ApiProblem("agent_archived", `Agent ${agentId} is archived; unarchive it first.`);
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
  };
  const key = await platform.vault.unwrap(agent.data_key);
  const runId = await insertRun(tx, { agentId, key, request, number: (last ?? 0) + 1, now: new Date(), asking });
  // They stay for the runs behind it.
  const { mode, model = agent.settings.model } = request;
  if (mode !== agent.settings.mode || body.model)
    await tx
      .updateTable("agents")
      .set({ settings: JSON.stringify({ ...agent.settings, mode, ...(model && { model }) }) })
      .where("id", "=", agentId)
      .execute();
  return { agentId, runId };
}

interface NewRun {
  agentId: string;
  key: DataKey;
  request: RunRequest;
  number: number;
  now: Date;
  asking: Asking;
}

async function insertRun(tx: Transaction, { agentId, key, request, number, now, asking }: NewRun): Promise<string> {
  const runId = `run-${randomUUID()}`;
  const inserted = await tx
    .insertInto("runs")
    .values({
      id: runId,
      agent_id: agentId,
      ...ownerOf(asking.principal),
      number,
      status: "CREATING",
      request_id: asking.requestId,
      request: key.seal(JSON.stringify(request), requestPlace(runId)),
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.column("agent_id").where("status", "in", ["CREATING", "RUNNING"]).doNothing())
    .returning("id")
    .executeTakeFirst();
  if (!inserted)
    throw new ApiProblem("agent_busy", `Agent ${agentId} has a run under way; wait for its end or cancel it.`);
  await tx.updateTable("agents").set({ latest_run_id: runId, updated_at: now }).where("id", "=", agentId).execute();
  await notify(tx, "runs", runId);
  return runId;
}

const ownerOf = (principal: Principal) => ({
  team_id: principal.teamId,
  user_id: principal.kind === "user" ? principal.userId : null,
  service_account_id: principal.kind === "service_account" ? principal.serviceAccountId : null,
});

function settingsOf(agentId: string, body: NewAgent, principal: Principal): AgentSettings {
  return {
    ...(body.model && { model: body.model }),
    mode: body.mode ?? "agent",
    ...(body.env && { env: body.env }),
    repos: body.repos ?? [],
    workOnCurrentBranch: body.workOnCurrentBranch ?? false,
    autoCreatePR: body.autoCreatePR ?? false,
    skipReviewerRequest: body.skipReviewerRequest ?? false,
    openAsApp: body.openAsPlatformGithubApp ?? body.openAsCursorGithubApp ?? principal.kind === "service_account",
    // Names of branches are published with the code and cannot be sealed: they tell nothing of the prompt.
    branchName: body.branchName ?? branchName(body.name ?? "", agentId),
  };
}

/** What is asked of sub-agents that are made later is seen when the run begins. */
async function checkSpend(
  { tx, platform, asking: { principal } }: Making,
  models: (string | undefined)[],
): Promise<void> {
  const userId = principal.kind === "user" ? principal.userId : null;
  const left = await leftToSpend(tx, { teamId: principal.teamId, userId });
  if (left === 0)
    throw new ApiProblem("spend_limit_reached", "The spend limit of this month is reached; ask an admin to raise it.");
  const model = left === null ? null : findUnpriced(models, platform.settings);
  if (model !== null) throw new ApiProblem("invalid_model", unpriced(model));
}

const longestName = 60;

/** The first line of the prompt, cut at a word. */
function nameFrom(prompt: string): string {
  const line = prompt.trim().split("\n", 1)[0]?.trim() || "Agent";
  if (line.length <= longestName) return line;
  const cut = line.slice(0, longestName);
  return `${cut.slice(0, cut.lastIndexOf(" ") > 20 ? cut.lastIndexOf(" ") : longestName)}…`;
}

// Loads a claimed run and its agent, with their sealed columns decrypted.
import { StaleWriter } from "@agentcli/engine";
import type { RunModel } from "@agentcli/protocol/api";
import type { FrameGroup } from "@agentcli/surfaces/run-stream";
import { type Kysely, type Selectable, sql } from "kysely";
import type { DataKey, PlatformContext, RunTable, Tables } from "../../foundation/index.ts";
import type { ClaimedRun, Fence } from "../leases/lease.ts";
import { insertFrames, notifyReaders, numberFrames } from "../streams/index.ts";
import type { Spender } from "../usage/index.ts";
import {
  type AgentRecord,
  agentNameAad,
  type PrivateSettings,
  privateSettingsAad,
  type RunRequest,
  requestAad,
} from "./request.ts";

export interface ActiveRun {
  agent: AgentRecord;
  key: DataKey;
  fence: Fence;
  run: { id: string; createdAt: Date; startedAt: Date; request: RunRequest };
  /** What the run is recorded to use. */
  model: { id: string | null; provider: string | null };
  /** Charged for the run; not necessarily the creator of the agent. */
  requester: Spender;
}

/** Sets the status to RUNNING and publishes it. Throws StaleWriter if another driver claimed the run or it was deleted. */
export async function openRun({ db, vault }: PlatformContext, claimed: ClaimedRun): Promise<ActiveRun> {
  const { runId, agentId } = claimed;
  const agent = await db.selectFrom("agents").selectAll().where("id", "=", agentId).executeTakeFirst();
  const key = agent && (await vault.unwrap(agent.data_key));
  const run = key && (await beginRun(db, key, claimed));
  if (!agent || !run) throw new StaleWriter(agentId, `run ${runId} is not there any more`);
  const open = <Value>(sealed: Buffer, about: string): Value => JSON.parse(key.openText(sealed, about));
  return {
    key,
    fence: { runId, epoch: claimed.epoch },
    requester: { teamId: run.team_id, userId: run.user_id },
    model: { id: run.model, provider: run.model_provider },
    agent: {
      id: agent.id,
      directory: agent.directory,
      teamId: agent.team_id,
      userId: agent.user_id,
      serviceAccountId: agent.service_account_id,
      name: key.openText(agent.name, agentNameAad(agentId)),
      settings: agent.settings,
      private: open<PrivateSettings>(agent.private_settings, privateSettingsAad(agentId)),
    },
    run: {
      id: runId,
      createdAt: run.created_at,
      startedAt: run.started_at ?? run.created_at,
      request: open<RunRequest>(run.request, requestAad(runId)),
    },
  };
}

/** The server that drives a run may be configured otherwise than the one that created it. */
export async function recordModel(
  { db }: PlatformContext,
  { fence, model: recorded }: ActiveRun,
  model: Required<RunModel>,
): Promise<void> {
  if (recorded.id === model.id && recorded.provider === model.provider) return;
  await sql`
    update runs set model = ${model.id}, model_provider = ${model.provider}
    where id = ${fence.runId} and lease_epoch = ${fence.epoch}
  `.execute(db);
}

type StartedRun = Pick<
  Selectable<RunTable>,
  "created_at" | "started_at" | "request" | "team_id" | "user_id" | "model" | "model_provider"
>;

/** Stores the status frame in the same statement, so that earlier and later readers see it exactly once. */
async function beginRun(db: Kysely<Tables>, key: DataKey, claimed: ClaimedRun): Promise<StartedRun | undefined> {
  const { runId, epoch, createdAt } = claimed;
  const begins: FrameGroup[] =
    claimed.status === "CREATING" ? [[{ event: "status", data: { runId, status: "RUNNING" } }]] : [];
  const frames = numberFrames(begins, { after: 0, bornAt: createdAt });
  const now = new Date();
  const { rows } = await sql<StartedRun>`
    with fence as (
      update runs set status = 'RUNNING', started_at = coalesce(started_at, ${now}), updated_at = ${now}
      where id = ${runId} and lease_epoch = ${epoch} and status in ('CREATING', 'RUNNING')
      returning id, created_at, started_at, request, team_id, user_id, model, model_provider
    ), shown as (${insertFrames(key, runId, frames)})
    select *, (${notifyReaders(runId, frames)}) as told from fence
  `.execute(db);
  return rows[0];
}

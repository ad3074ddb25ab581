// Loads a claimed run and its agent, with their sealed columns decrypted.
import { StaleWriter } from "@agentcli/engine";
import type { RunModel } from "@agentcli/protocol/api";
import type { FrameGroup } from "@agentcli/surfaces/run-stream";
import { type Kysely, type Selectable, sql } from "kysely";
import { type DataKey, type PlatformContext, prepared, type RunTable, type Tables } from "../../foundation/index.ts";
import type { ClaimedRun, Fence } from "../leases/lease.ts";
import { type Frame, type Hub, insertFrames, notifyReaders, numberFrames } from "../streams/index.ts";
import type { Spender } from "../usage/index.ts";
import { type AgentRecord, agentNameAad, openPrivateSettings, type RunRequest, requestAad } from "./request.ts";

export interface ActiveRun {
  agent: AgentRecord;
  key: DataKey;
  fence: Fence;
  run: {
    id: string;
    createdAt: Date;
    startedAt: Date;
    request: RunRequest;
    /** Number of the last frame that is stored when this driver starts. */
    lastFrame: number;
  };
  /** What the run is recorded to use. */
  model: { id: string | null; provider: string | null };
  /** Charged for the run; not necessarily the creator of the agent. */
  requester: Spender;
}

export type OpenedAgent = Pick<ActiveRun, "agent" | "key">;

/** Throws StaleWriter if it was deleted. */
export async function openAgent({ db, vault }: PlatformContext, { agentId }: ClaimedRun): Promise<OpenedAgent> {
  const agent = await db.selectFrom("agents").selectAll().where("id", "=", agentId).executeTakeFirst();
  if (!agent) throw new StaleWriter(agentId, "the agent was deleted");
  const key = await vault.unwrap(agent.data_key);
  return {
    key,
    agent: {
      id: agent.id,
      directory: agent.directory,
      teamId: agent.team_id,
      userId: agent.user_id,
      serviceAccountId: agent.service_account_id,
      source: agent.source,
      name: key.openText(agent.name, agentNameAad(agentId)),
      settings: agent.settings,
      private: openPrivateSettings(agentId, key, agent.private_settings),
    },
  };
}

/** Sets the status to RUNNING and publishes it, here at once. Throws StaleWriter if another driver claimed the run or it was deleted. */
export async function openRun(
  { platform: { db }, hub }: { platform: PlatformContext; hub: Pick<Hub, "publish"> },
  claimed: ClaimedRun,
  { agent, key }: OpenedAgent,
): Promise<ActiveRun> {
  const { runId, agentId, teamId, userId } = claimed;
  const frames = firstFrames(claimed);
  const run = await beginRun(db, key, { ...claimed, frames });
  if (!run) throw new StaleWriter(agentId, `run ${runId} is not there any more`);
  hub.publish(runId, frames);
  return {
    agent,
    key,
    fence: { runId, epoch: claimed.epoch },
    requester: { teamId, userId },
    model: { id: run.model, provider: run.model_provider },
    run: {
      id: runId,
      createdAt: run.created_at,
      startedAt: run.started_at ?? run.created_at,
      request: JSON.parse(key.openText(run.request, requestAad(runId))) as RunRequest,
      lastFrame: run.last_frame,
    },
  };
}

/** The server that drives a run may be configured otherwise than the one that created it. */
export async function saveModel(
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

/** What it has reached and was refused so far. */
export async function saveEgress(db: Kysely<Tables>, { fence }: ActiveRun, sealed: Buffer): Promise<void> {
  await sql`${prepared}
    update runs set egress = ${sealed} where id = ${fence.runId} and lease_epoch = ${fence.epoch}
  `.execute(db);
}

function firstFrames({ runId, status, createdAt }: ClaimedRun): Frame[] {
  const begins: FrameGroup[] = status === "CREATING" ? [[{ event: "status", data: { runId, status: "RUNNING" } }]] : [];
  return numberFrames(begins, { after: 0, bornAt: createdAt });
}

interface StartedRun
  extends Pick<Selectable<RunTable>, "created_at" | "started_at" | "request" | "model" | "model_provider"> {
  last_frame: number;
}

/**
 * Stores the status frame in the same statement, so that earlier and later readers see it exactly once. The statement
 * counts the frames before it: no earlier driver can add any, because the run has been claimed since.
 */
async function beginRun(
  db: Kysely<Tables>,
  key: DataKey,
  { runId, epoch, frames }: Fence & { frames: Frame[] },
): Promise<StartedRun | undefined> {
  const now = new Date();
  const { rows } = await sql<StartedRun>`${prepared}
    with fence as (
      update runs set status = 'RUNNING', started_at = coalesce(started_at, ${now}), updated_at = ${now}
      where id = ${runId} and lease_epoch = ${epoch} and status in ('CREATING', 'RUNNING')
      returning id, created_at, started_at, request, model, model_provider
    ), shown as (${insertFrames(key, runId, frames)})
    select fence.*, (${notifyReaders(runId, frames)}) as told,
      ${frames.length}::integer + coalesce((select max(seq) from frames where run_id = ${runId}), 0) as last_frame
    from fence
  `.execute(db);
  return rows[0];
}

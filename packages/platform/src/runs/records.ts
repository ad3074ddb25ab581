// A claimed run with everything that is sealed about it and its agent opened.
import { type FrameGroup, StaleWriter } from "@agentcli/engine";
import { type Kysely, type Selectable, sql } from "kysely";
import type { RunTable, Tables } from "../db/index.ts";
import type { Platform } from "../platform.ts";
import { insertFrames, numberFrames, tellReaders } from "../streams/index.ts";
import type { DataKey } from "../vault/index.ts";
import type { Claimed, Fence } from "./lease.ts";
import {
  type KnownAgent,
  namePlace,
  type PrivateSettings,
  privateSettingsPlace,
  type RunRequest,
  requestPlace,
} from "./request.ts";
import type { Spender } from "./spend.ts";

export interface OpenedRun {
  agent: KnownAgent;
  key: DataKey;
  fence: Fence;
  run: { id: string; createdAt: Date; startedAt: Date; request: RunRequest };
  /** Who asked for the run, which need not be who made the agent. */
  spender: Spender;
}

/** From here on it is RUNNING, also for readers. Throws StaleWriter where it is no longer ours, or there no longer. */
export async function openRun({ db, vault }: Platform, claimed: Claimed): Promise<OpenedRun> {
  const { runId, agentId } = claimed;
  const agent = await db.selectFrom("agents").selectAll().where("id", "=", agentId).executeTakeFirst();
  const key = agent && (await vault.unwrap(agent.data_key));
  const run = key && (await beginRun(db, key, claimed));
  if (!agent || !run) throw new StaleWriter(agentId, `run ${runId} is not there any more`);
  const open = <Value>(sealed: Buffer, about: string): Value => JSON.parse(key.openText(sealed, about));
  return {
    key,
    fence: { runId, epoch: claimed.epoch },
    spender: { teamId: run.team_id, userId: run.user_id },
    agent: {
      id: agent.id,
      teamId: agent.team_id,
      userId: agent.user_id,
      serviceAccountId: agent.service_account_id,
      name: key.openText(agent.name, namePlace(agentId)),
      settings: agent.settings,
      private: open<PrivateSettings>(agent.private_settings, privateSettingsPlace(agentId)),
    },
    run: {
      id: runId,
      createdAt: run.created_at,
      startedAt: run.started_at ?? run.created_at,
      request: open<RunRequest>(run.request, requestPlace(runId)),
    },
  };
}

type BegunRun = Pick<Selectable<RunTable>, "created_at" | "started_at" | "request" | "team_id" | "user_id">;

/** Readers are told with the change itself: whoever was there before sees it once, and whoever comes later too. */
async function beginRun(db: Kysely<Tables>, key: DataKey, claimed: Claimed): Promise<BegunRun | undefined> {
  const { runId, epoch, createdAt } = claimed;
  const begins: FrameGroup[] =
    claimed.status === "CREATING" ? [[{ event: "status", data: { runId, status: "RUNNING" } }]] : [];
  const frames = numberFrames(begins, { after: 0, bornAt: createdAt });
  const now = new Date();
  const { rows } = await sql<BegunRun>`
    with fence as (
      update runs set status = 'RUNNING', started_at = coalesce(started_at, ${now}), updated_at = ${now}
      where id = ${runId} and lease_epoch = ${epoch} and status in ('CREATING', 'RUNNING')
      returning id, created_at, started_at, request, team_id, user_id
    ), shown as (${insertFrames(key, runId, frames)})
    select *, (${tellReaders(runId, frames)}) as told from fence
  `.execute(db);
  return rows[0];
}

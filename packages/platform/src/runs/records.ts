// A claimed run with everything that is sealed about it and its agent opened.
import { StaleWriter } from "@agentcli/engine";
import type { Platform } from "../platform.ts";
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
  const run = await db
    .updateTable("runs")
    .set(({ fn, val }) => ({
      status: "RUNNING",
      started_at: fn.coalesce("started_at", val(new Date())),
      updated_at: new Date(),
    }))
    .where("id", "=", runId)
    .where("lease_epoch", "=", claimed.epoch)
    .where("status", "in", ["CREATING", "RUNNING"])
    .returning(["created_at", "started_at", "request", "team_id", "user_id"])
    .executeTakeFirst();
  if (!agent || !run) throw new StaleWriter(agentId, `run ${runId} is not there any more`);
  const key = await vault.unwrap(agent.data_key);
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

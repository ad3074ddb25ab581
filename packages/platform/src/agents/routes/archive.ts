// Cancels runs; archives and deletes agents.
import { type RawBuilder, sql } from "kysely";
import { forgetSync } from "../../fleet/index.ts";
import { ApiError, notify, type PlatformContext, retryWhileAway } from "../../foundation/index.ts";
import { removeAgentMachine } from "../../machines/index.ts";
import type { Workspaces } from "../../repositories/index.ts";
import {
  removeAgentSocket,
  removeArtifacts,
  removeSavedDisk,
  requestCancel,
  requestCancelOfAll,
  waitForEnd,
} from "../../runs/index.ts";
import { lockAgent } from "../store.ts";

/** Waits for the end of the run: a follow-up right after it is not refused as busy. */
export async function cancelRun({ db }: PlatformContext, runId: string): Promise<void> {
  if (!(await requestCancel(db, runId))) throw new ApiError("run_not_cancellable", `Run ${runId} has already ended.`);
  await waitForEnd(db, runId);
}

/** A second time changes nothing. */
export async function archiveAgent(platform: PlatformContext, agentId: string): Promise<void> {
  const now = new Date();
  await platform.db.transaction().execute(async (tx) => {
    await lockAgent(tx, agentId);
    await tx
      .updateTable("agents")
      .set({ archived_at: now, updated_at: now })
      .where("id", "=", agentId)
      .where("archived_at", "is", null)
      .execute();
  });
  for (const runId of await requestCancelOfAll(platform.db, agentId)) await waitForEnd(platform.db, runId);
}

export async function unarchiveAgent({ db }: PlatformContext, agentId: string): Promise<void> {
  await db
    .updateTable("agents")
    .set({ archived_at: null, updated_at: new Date() })
    .where("id", "=", agentId)
    .where("archived_at", "is not", null)
    .execute();
}

export async function deleteAgent(platform: PlatformContext, workspaces: Workspaces, agentId: string): Promise<void> {
  await requestCancelOfAll(platform.db, agentId);
  await deleteAgentIf({ platform, workspaces }, agentId, sql<boolean>`true`);
}

export interface AgentDeletion {
  platform: Pick<PlatformContext, "db" | "settings" | "objects" | "log">;
  workspaces: Pick<Workspaces, "remove">;
}

/**
 * Whether it was deleted: only if the condition still holds once no other process can change the agent. Its rows go first: a
 * driver that still runs is fenced off and cannot write anything back.
 */
export async function deleteAgentIf(
  { platform, workspaces }: AgentDeletion,
  agentId: string,
  condition: RawBuilder<boolean>,
): Promise<boolean> {
  // Again where it conflicted with a driver that still writes.
  const directory = await retryWhileAway(() =>
    platform.db.transaction().execute(async (tx) => {
      await lockAgent(tx, agentId);
      const runs = await tx.selectFrom("runs").select("id").where("agent_id", "=", agentId).execute();
      const deleted = tx.deleteFrom("agents").where("id", "=", agentId).where(condition).returning("directory");
      const agent = await deleted.executeTakeFirst();
      if (!agent) return undefined;
      await tx.insertInto("deleted_directories").values({ directory: agent.directory }).execute();
      // Readers of their streams see that nothing more will come.
      for (const { id } of runs) await notify(tx, "frames", id);
      return agent.directory;
    }),
  );
  if (directory === undefined) return false;
  // The agent is deleted, also where its files cannot be removed now: retention tries again.
  await removeDeleted(platform, workspaces, directory).catch((error: unknown) =>
    platform.log.error("workspace left", error, { agentId }),
  );
  return true;
}

/** The files of a deleted agent, then the note that they are to be removed. */
export async function removeDeleted(
  { db, settings, objects }: Pick<PlatformContext, "db" | "settings" | "objects">,
  workspaces: Pick<Workspaces, "remove">,
  directory: string,
): Promise<void> {
  await removeAgentMachine(settings, directory);
  await removeAgentSocket(settings, directory);
  await forgetSync(settings, directory);
  await workspaces.remove(directory);
  await removeArtifacts(objects, directory);
  await removeSavedDisk({ objects, settings }, directory);
  await db.deleteFrom("deleted_directories").where("directory", "=", directory).execute();
}

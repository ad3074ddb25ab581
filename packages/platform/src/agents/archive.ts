// Ends of agents and runs that somebody asks for.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { notify, patiently, type Queries } from "../db/index.ts";
import { ApiProblem } from "../http/index.ts";
import type { Platform } from "../platform.ts";
import type { Workspaces } from "../workspaces/index.ts";
import { lockAgent } from "./store.ts";

/**
 * Whoever drives it ends it, within a second; where nobody does yet, the next to claim it does. That is waited for:
 * a follow-up right after is not refused as busy.
 */
export async function cancelRun({ db }: Platform, runId: string): Promise<void> {
  const asked = await db
    .updateTable("runs")
    .set({ cancel_requested_at: new Date() })
    .where("id", "=", runId)
    .where("status", "in", ["CREATING", "RUNNING"])
    .returning("id")
    .executeTakeFirst();
  if (!asked) throw new ApiProblem("run_not_cancellable", `Run ${runId} has ended already.`);
  await notify(db, "cancels", runId);
  await untilEnded(db, runId);
}

/** Whoever should end it may be dead: the next to claim it is not waited for. */
const longestWaitMs = 2_000;
const lookEveryMs = 25;

async function untilEnded(db: Queries, runId: string): Promise<void> {
  const deadline = performance.now() + longestWaitMs;
  while (performance.now() < deadline) {
    const active = await db
      .selectFrom("runs")
      .select("id")
      .where("id", "=", runId)
      .where("status", "in", ["CREATING", "RUNNING"])
      .executeTakeFirst();
    if (!active) return;
    await pause(lookEveryMs);
  }
}

/** A second time changes nothing. */
export async function archiveAgent(platform: Platform, agentId: string): Promise<void> {
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
  for (const runId of await cancelActive(platform, agentId)) await untilEnded(platform.db, runId);
}

export async function unarchiveAgent({ db }: Platform, agentId: string): Promise<void> {
  await db
    .updateTable("agents")
    .set({ archived_at: null, updated_at: new Date() })
    .where("id", "=", agentId)
    .where("archived_at", "is not", null)
    .execute();
}

/** Its rows go first: whoever still drives it is fenced off and cannot bring anything back. */
export async function deleteAgent(platform: Platform, workspaces: Workspaces, agentId: string): Promise<void> {
  await cancelActive(platform, agentId);
  // Again where it lost against whoever still writes to it.
  await patiently(() =>
    platform.db.transaction().execute(async (tx) => {
      await lockAgent(tx, agentId);
      const runs = await tx.selectFrom("runs").select("id").where("agent_id", "=", agentId).execute();
      await tx.deleteFrom("agents").where("id", "=", agentId).execute();
      // Whoever follows one sees that there is no more to come.
      for (const { id } of runs) await notify(tx, "frames", id);
    }),
  );
  // The agent is gone for everybody; a directory that cannot be removed now is no reason to say otherwise.
  await workspaces.remove(agentId).catch((error: unknown) => platform.log.error("workspace left", error, { agentId }));
  await rm(join(platform.settings.dataDirectory, "artifacts", agentId), { recursive: true, force: true });
}

/** Answers with those that have to end. */
async function cancelActive(platform: Platform, agentId: string): Promise<string[]> {
  const active = await platform.db
    .selectFrom("runs")
    .select("id")
    .where("agent_id", "=", agentId)
    .where("status", "in", ["CREATING", "RUNNING"])
    .execute();
  for (const { id } of active) {
    await platform.db.updateTable("runs").set({ cancel_requested_at: new Date() }).where("id", "=", id).execute();
    await notify(platform.db, "cancels", id);
  }
  return active.map(({ id }) => id);
}

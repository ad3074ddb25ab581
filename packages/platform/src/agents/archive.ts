// Ends of agents and runs that somebody asks for.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { notify, patiently } from "../db/index.ts";
import { ApiProblem } from "../http/index.ts";
import type { Platform } from "../platform.ts";
import type { Workspaces } from "../workspaces/index.ts";

/** Whoever drives it ends it, within a second; where nobody does yet, the next to claim it does. */
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
}

/** A second time changes nothing. */
export async function archiveAgent(platform: Platform, agentId: string): Promise<void> {
  const { db } = platform;
  const now = new Date();
  await db
    .updateTable("agents")
    .set({ archived_at: now, updated_at: now })
    .where("id", "=", agentId)
    .where("archived_at", "is", null)
    .execute();
  await cancelActive(platform, agentId);
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
  await patiently(() => platform.db.deleteFrom("agents").where("id", "=", agentId).execute());
  await workspaces.remove(agentId);
  await rm(join(platform.settings.dataDirectory, "artifacts", agentId), { recursive: true, force: true });
}

async function cancelActive(platform: Platform, agentId: string): Promise<void> {
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
}

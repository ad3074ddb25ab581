// Recurring builds: requests one for each environment whose time has come. One server does it for all.
import { type PlatformContext, teamKey } from "../../foundation/index.ts";

import { insertBuild } from "./store.ts";

const pollIntervalMs = 2_000;

export function startBuildSchedule(platform: PlatformContext): { stop(): Promise<void> } {
  let running: Promise<void> | null = null;
  const look = (): void => {
    running ??= requestDueBuilds(platform)
      .catch((error: unknown) => platform.log.error("recurring builds were not requested", error))
      .finally(() => {
        running = null;
      });
  };
  const timer = setInterval(look, pollIntervalMs);
  look();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

/** An environment whose build has not ended yet gets the next one a turn later. */
async function requestDueBuilds({ db, vault }: PlatformContext): Promise<void> {
  for (;;) {
    const found = await db.transaction().execute(async (tx) => {
      const due = await tx
        .selectFrom("environments")
        .selectAll()
        .where("build_interval_hours", ">", 0)
        .where("next_build_at", "<=", new Date())
        .orderBy("next_build_at")
        .limit(1)
        .forUpdate()
        .skipLocked()
        .executeTakeFirst();
      if (!due) return false;
      await tx
        .updateTable("environments")
        .set({ next_build_at: nextAfter(due.build_interval_hours) })
        .where("id", "=", due.id)
        .execute();
      const open = await tx
        .selectFrom("environment_builds")
        .select("id")
        .where("environment_id", "=", due.id)
        .where("status", "=", "IN_PROGRESS")
        .where("draft", "=", false)
        .executeTakeFirst();
      if (open) return true;
      const key = await teamKey(tx, vault, due.team_id);
      await insertBuild(tx, { environment: due, key, trigger: "RECURRING", draft: false, requestedBy: null });
      return true;
    });
    if (!found) return;
  }
}

export const nextAfter = (hours: number): Date => new Date(Date.now() + hours * 3_600_000);

// Tries again to keep the artifacts that an ended run could not store.
import { join } from "node:path";
import type { Kysely } from "kysely";
import type { Activity, PlatformContext, Tables } from "../../foundation/index.ts";
import { artifactsDirectory } from "../execution/sandbox/index.ts";
import { collectFiles } from "./collect.ts";
import { openUnsaved, recordUnsaved, retryIntervalMs } from "./unsaved.ts";

const maxRunsAtOnce = 20;

export function startArtifactRetries(platform: PlatformContext): Activity {
  const { log, storage } = platform;
  let current = Promise.resolve();
  const retry = () => {
    current = current.then(() =>
      retryDue(platform).catch((error: unknown) => log.error("artifacts could not be retried", error)),
    );
  };
  const timer = setInterval(retry, retryIntervalMs);
  storage.onSpace(retry);
  return {
    async stop() {
      clearInterval(timer);
      await current;
    },
  };
}

async function retryDue(platform: PlatformContext): Promise<void> {
  if (platform.storage.obstacle() !== null) return;
  const due = await platform.db
    .selectFrom("runs")
    .select(["id", "agent_id"])
    .where("retry_artifacts_at", "<", new Date())
    .orderBy("retry_artifacts_at")
    .limit(maxRunsAtOnce)
    .execute();
  for (const { id, agent_id } of due)
    await platform.db.transaction().execute((tx) => retryRun({ ...platform, db: tx }, id, agent_id));
}

/** The lock keeps a follow-up from being created meanwhile: no process of the agent may run. */
async function retryRun(platform: PlatformContext, runId: string, agentId: string): Promise<void> {
  const { db, vault, settings } = platform;
  const agent = await lockIdleAgent(db, agentId);
  if (!agent) return;
  const run = await db.selectFrom("runs").select("unsaved_artifacts").where("id", "=", runId).executeTakeFirst();
  if (!run?.unsaved_artifacts) return;
  const key = await vault.unwrap(agent.data_key);
  const from = artifactsDirectory(join(settings.dataDirectory, "workspaces", agent.directory));
  const listed = openUnsaved(runId, key, run.unsaved_artifacts);
  const left = await collectFiles({ agent, key }, from, platform);
  const isUnread = (path: string) => left.some((other) => other.path.endsWith("/") && path.startsWith(other.path));
  const stillUnsaved = listed.flatMap(
    (former) => left.find(({ path }) => path === former.path) ?? (isUnread(former.path) ? former : []),
  );
  await recordUnsaved(db, { runId, key }, stillUnsaved);
}

const lockIdleAgent = (db: Kysely<Tables>, agentId: string) =>
  db
    .selectFrom("agents")
    .select(["id", "directory", "data_key"])
    .where("id", "=", agentId)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("runs")
            .select("id")
            .where("agent_id", "=", agentId)
            .where("status", "in", ["CREATING", "RUNNING"]),
        ),
      ),
    )
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();

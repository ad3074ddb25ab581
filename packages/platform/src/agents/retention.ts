// Removes the files of agents that were archived a while ago, and of agents that were deleted.
import { sql } from "kysely";
import { forgetSync } from "../fleet/index.ts";
import type { PlatformContext, RetentionRule } from "../foundation/index.ts";
import { setAgentMachineAside } from "../machines/index.ts";
import type { Workspaces } from "../repositories/index.ts";
import {
  forgetDisk,
  forgetMachine,
  listStates,
  removeAgentSocket,
  removeSavedDisk,
  removeState,
} from "../runs/index.ts";
import { removeDeleted } from "./routes/archive.ts";
import { lockAgent } from "./store.ts";

export interface WorkspaceRetention {
  platform: Pick<PlatformContext, "db" | "settings" | "objects">;
  workspaces: Workspaces;
}

/**
 * Those that were noted when the agent was deleted, and no others: with the database of another platform every directory
 * would look like one of a deleted agent.
 */
export const deletedRetention = ({ platform, workspaces }: WorkspaceRetention): RetentionRule => ({
  name: "files of deleted agents",
  async *remove() {
    for (const { directory } of await platform.db.selectFrom("deleted_directories").select("directory").execute()) {
      await removeDeleted(platform, workspaces, directory);
      yield 1;
    }
  },
});

interface CopyRetention extends Pick<WorkspaceRetention, "platform"> {
  workspaces: Pick<Workspaces, "remove">;
}

/** Of agents that another server has deleted: what this data directory has of them is a copy of what was in the store. */
export const copyRetention = ({ platform, workspaces }: CopyRetention): RetentionRule => ({
  name: "copies of deleted agents",
  in: "data directory",
  async *remove() {
    const { db, settings, objects } = platform;
    const names = objects.isShared ? await listStates(settings) : [];
    for (let at = 0; at < names.length; at += batchSize) {
      const batch = names.slice(at, at + batchSize);
      const rows = await db.selectFrom("agents").select("directory").where("directory", "in", batch).execute();
      const known = new Set(rows.map(({ directory }) => directory));
      for (const directory of batch.filter((name) => !known.has(name))) {
        await workspaces.remove(directory);
        await forgetSync(settings, directory);
        await removeState(settings, directory);
        yield 1;
      }
    }
  },
});

const batchSize = 500;

/** The conversation and the artifacts of an archived agent stay. */
export const workspaceRetention = (options: WorkspaceRetention): RetentionRule => ({
  name: "workspaces",
  in: "data directory",
  async *remove() {
    const names = await options.workspaces.list();
    for (let at = 0; at < names.length; at += batchSize)
      for (const agent of await findDue(options, names.slice(at, at + batchSize)))
        yield await removeArchived(options, agent);
  },
});

interface AgentDirectory {
  id: string;
  directory: string;
}

const findDue = ({ platform: { db, settings } }: WorkspaceRetention, names: string[]): Promise<AgentDirectory[]> =>
  db
    .selectFrom("agents")
    .select(["id", "directory"])
    .where("directory", "in", names)
    .where(isDue(settings.retention.workspaceDays))
    .execute();

/** Not while a run is active, or has artifacts in the workspace that are still to be kept. */
const isDue = (days: number) => sql<boolean>`
  coalesce(agents.archived_at < now() - ${days} * interval '1 day', false) and not exists (
    select from runs where runs.agent_id = agents.id
      and (runs.status in ('CREATING', 'RUNNING') or runs.retry_artifacts_at is not null)
  )`;

/** Taken away while no other process can unarchive the agent; a run that starts later makes a new workspace and machine. */
async function removeArchived({ platform, workspaces }: WorkspaceRetention, { id, directory }: AgentDirectory) {
  const { workspaceDays } = platform.settings.retention;
  const cleanUp = await platform.db.transaction().execute(async (tx) => {
    await lockAgent(tx, id);
    const agent = tx.selectFrom("agents").select("id").where("id", "=", id).where(isDue(workspaceDays));
    if (!(await agent.executeTakeFirst())) return null;
    // The workspace goes last: as long as it is there, this is done again.
    await forgetMachine(tx, id);
    await forgetDisk(tx, id);
    await removeSavedDisk(platform, directory);
    const removeMachine = await setAgentMachineAside(platform.settings, directory);
    await removeAgentSocket(platform.settings, directory);
    await forgetSync(platform.settings, directory);
    const removeWorkspace = await workspaces.setAside(directory);
    return async () => {
      await removeMachine();
      await removeWorkspace();
    };
  });
  await cleanUp?.();
  return cleanUp ? 1 : 0;
}

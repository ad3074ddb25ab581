// Removes the files of agents that were archived a while ago, and of agents that were deleted.
import { sql } from "kysely";
import type { PlatformContext, RetentionRule } from "../foundation/index.ts";
import type { Workspaces } from "../repositories/index.ts";
import { lockAgent } from "./store.ts";

export interface WorkspaceRetention {
  platform: Pick<PlatformContext, "db">;
  workspaces: Workspaces;
  days: number;
}

const batchSize = 500;

/** The conversation and the artifacts of an archived agent stay. */
export const workspaceRetention = (options: WorkspaceRetention): RetentionRule => ({
  name: "workspaces",
  async *remove() {
    const names = await options.workspaces.list();
    for (let at = 0; at < names.length; at += batchSize) {
      const { archived, deleted } = await findDue(options, names.slice(at, at + batchSize));
      for (const directory of deleted) {
        await options.workspaces.remove(directory);
        yield 1;
      }
      for (const agent of archived) yield await removeArchived(options, agent);
    }
  },
});

interface AgentDirectory {
  id: string;
  directory: string;
}

interface DueWorkspaces {
  archived: AgentDirectory[];
  /** An agent exists before its directory does: one without an agent belonged to a deleted one. */
  deleted: string[];
}

async function findDue({ platform: { db }, days }: WorkspaceRetention, names: string[]): Promise<DueWorkspaces> {
  const agents = await db
    .selectFrom("agents")
    .select(["id", "directory", isDue(days).as("due")])
    .where("directory", "in", names)
    .execute();
  const known = new Set(agents.map(({ directory }) => directory));
  return { archived: agents.filter(({ due }) => due), deleted: names.filter((name) => !known.has(name)) };
}

const isDue = (days: number) => sql<boolean>`
  coalesce(agents.archived_at < now() - ${days} * interval '1 day', false) and not exists (
    select from runs where runs.agent_id = agents.id and runs.status in ('CREATING', 'RUNNING')
  )`;

/** Taken away while no other process can unarchive the agent; a run that starts later makes a new workspace. */
async function removeArchived({ platform, workspaces, days }: WorkspaceRetention, { id, directory }: AgentDirectory) {
  const cleanUp = await platform.db.transaction().execute(async (tx) => {
    await lockAgent(tx, id);
    const agent = tx.selectFrom("agents").select("id").where("id", "=", id).where(isDue(days));
    return (await agent.executeTakeFirst()) ? workspaces.setAside(directory) : null;
  });
  await cleanUp?.();
  return cleanUp ? 1 : 0;
}

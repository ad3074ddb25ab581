// The workspace of an agent, by its id.
import type { Kysely } from "kysely";
import type { Tables } from "../../foundation/index.ts";
import type { OpenWorkspace, Workspaces } from "../workspaces/index.ts";

/** Undefined if it was never opened, or the agent was deleted. */
export async function findWorkspace(
  { db, workspaces }: { db: Kysely<Tables>; workspaces: Workspaces },
  agentId: string,
): Promise<OpenWorkspace | undefined> {
  const agent = await db.selectFrom("agents").select("directory").where("id", "=", agentId).executeTakeFirst();
  return agent && workspaces.find(agent.directory);
}

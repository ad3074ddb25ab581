// What killed runs left in their workspaces, reported by the next run of the same user.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "@agentcli/host";
import { searchUnfinished } from "@agentcli/workspace";

/** Where runs note that their workspace is still to be searched for new repositories. */
export const unfinishedRuns = ({ agentHome }: Pick<Environment, "agentHome">): string =>
  join(agentHome, "unfinished-runs");

/** One sentence for each repository that such a run has created or changed. */
export async function findUnreportedChanges(environment: Pick<Environment, "agentHome">): Promise<string[]> {
  const directory = unfinishedRuns(environment);
  return existsSync(directory) ? searchUnfinished(directory) : [];
}

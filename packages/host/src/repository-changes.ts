// Writes a warning for each repository that commands have created or changed, before the end of the turn.
import type { Log } from "@agentcli/engine";
import type { ThreadRecord } from "@agentcli/protocol";
import type { Sandboxes } from "./sandboxes.ts";

export interface RepositoryWarningOptions {
  sandboxes: Pick<Sandboxes, "endCommands" | "findRepositoryChanges">;
  /** Sub-agents that go on after the turn keep their commands. */
  hasRunningAgents(): boolean;
}

export const withRepositoryWarnings = (log: Log, options: RepositoryWarningOptions): Log => ({
  get state() {
    return log.state;
  },
  async write(...records) {
    const isEnd = records.some(({ type }) => type === "turn.ended");
    const changes = isEnd ? await findChanges(options) : [];
    return log.write(...changes.map(repositoryWarning), ...records);
  },
});

/** A process that goes on could create a repository after the search. */
async function findChanges({ sandboxes, hasRunningAgents }: RepositoryWarningOptions): Promise<string[]> {
  const ending = hasRunningAgents() ? undefined : sandboxes.endCommands();
  const failures = await (ending ?? Promise.resolve()).then(
    () => [],
    (error: Error) => [error.message],
  );
  return [...failures, ...(await sandboxes.findRepositoryChanges().catch(couldNotSearch))];
}

const repositoryWarning = (message: string): ThreadRecord => ({
  type: "noted",
  kind: "warning",
  data: { message, about: "repository" },
});

/** A search that fails does not take the end of the turn with it. */
const couldNotSearch = (error: Error): string[] => [
  `The workspace could not be searched for git repositories that this run may have created: ${error.message}`,
];

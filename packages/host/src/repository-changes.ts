// Writes a warning for each repository that commands have created or changed, before the end of the turn.
import type { Log } from "@agentcli/engine";
import type { ThreadRecord } from "@agentcli/protocol";
import type { Sandboxes } from "./sandboxes.ts";

export const withRepositoryWarnings = (log: Log, sandboxes: Pick<Sandboxes, "findRepositoryChanges">): Log => ({
  get state() {
    return log.state;
  },
  async write(...records) {
    const isEnd = records.some(({ type }) => type === "turn.ended");
    const changes = isEnd ? await sandboxes.findRepositoryChanges().catch(couldNotSearch) : [];
    return log.write(...changes.map(repositoryWarning), ...records);
  },
});

const repositoryWarning = (message: string): ThreadRecord => ({
  type: "noted",
  kind: "warning",
  data: { message, about: "repository" },
});

/** A search that fails does not take the end of the turn with it. */
const couldNotSearch = (error: Error): string[] => [
  `The workspace could not be searched for git repositories that this run may have created: ${error.message}`,
];

// Reports each repository that commands and servers have created or changed: before the end of a turn, and again
// when what went on after it has ended.
import type { Log } from "@agentcli/engine";
import type { ThreadRecord } from "@agentcli/protocol";
import type { Sandboxes } from "./sandboxes.ts";

export interface RepositoryWarningOptions {
  sandboxes: Pick<Sandboxes, "endCommands" | "findRepositoryChanges">;
  /** Of the MCP servers that have sandboxes of their own. */
  findServerChanges(): Promise<string[]>;
  /** Sub-agents that go on after the turn keep their commands. */
  hasRunningAgents(): boolean;
  /** For what is found when no turn is open. */
  warn(message: string): void;
  /** Known already, of runs that were killed. */
  leftoverWarnings: string[];
}

export interface RepositoryWarnings {
  /** Writes them into the log before the end of each turn. */
  withWarnings(log: Log): Log;
  /** Call when a sub-agent rests, which may be after the turn. */
  afterAgent(): Promise<void>;
  /** Call when nothing runs any more. */
  afterClose(): Promise<void>;
}

export function openRepositoryWarnings(options: RepositoryWarningOptions): RepositoryWarnings {
  let isTurnOpen = false;
  const leftoverWarnings = [...options.leftoverWarnings];
  const report = async (changes: Promise<string[]>) => {
    for (const change of await changes) options.warn(change);
  };
  return {
    withWarnings: (log) => ({
      get state() {
        return log.state;
      },
      async write(...records) {
        const isEnd = records.some(({ type }) => type === "turn.ended");
        isTurnOpen ||= records.some(({ type }) => type === "turn.begun");
        const changes = isEnd ? [...leftoverWarnings.splice(0), ...(await endAndSearch(options))] : [];
        const written = await log.write(...changes.map(repositoryWarning), ...records);
        if (isEnd) isTurnOpen = false;
        return written;
      },
    }),
    async afterAgent() {
      if (!isTurnOpen && !options.hasRunningAgents()) await report(endAndSearch(options));
    },
    afterClose: () => report(search(options)),
  };
}

/** A process that goes on could create a repository after the search. */
async function endAndSearch(options: RepositoryWarningOptions): Promise<string[]> {
  const { sandboxes, hasRunningAgents } = options;
  const ending = hasRunningAgents() ? undefined : sandboxes.endCommands();
  const failures = await (ending ?? Promise.resolve()).then(
    () => [],
    (error: Error) => [error.message],
  );
  return [...failures, ...(await search(options))];
}

/** A search that fails does not take the end of the turn with it. */
async function search({ sandboxes, findServerChanges }: RepositoryWarningOptions): Promise<string[]> {
  const changes = await sandboxes.findRepositoryChanges().catch(couldNotSearch);
  return [...new Set([...changes, ...(await findServerChanges().catch(couldNotSearch))])];
}

const repositoryWarning = (message: string): ThreadRecord => ({
  type: "noted",
  kind: "warning",
  data: { message, about: "repository" },
});

const couldNotSearch = (error: Error): string[] => [
  `The workspace could not be searched for git repositories that this run may have created: ${error.message}`,
];

// What a thread keeps open between turns: workspace, MCP servers, hooks. Reopened when a client changes the settings.
import type { Run, RunContext, RunOptions } from "@agentcli/host";
import type { Runs } from "../program.ts";
import { hasChange, keepSettings, type SettingsChange, withChange } from "./settings-change.ts";

export interface ThreadRun {
  now(): Run;
  /** Whether the run at hand has written nothing yet. */
  isFresh(): boolean;
  used(): void;
  /** The change applies from now on. One that is refused leaves everything as it was. */
  change(change: SettingsChange): Promise<void>;
  /** The next change reopens the run, even an empty one. */
  renew(): void;
  /** A run for one turn; the one of the thread stays. */
  borrow(adjust: (options: RunOptions) => RunOptions): Promise<Run>;
  close(): Promise<void>;
}

export interface ThreadRunHost {
  runs: Runs;
  reporting: Parameters<Runs["open"]>[1];
  context(): RunContext;
  onOpened(run: Run): void;
}

export async function openThreadRun(
  first: RunOptions,
  { runs, reporting, context, onOpened }: ThreadRunHost,
): Promise<ThreadRun> {
  let run = await runs.open(first, reporting, context());
  let options = keepSettings(first, run.settings);
  let isFresh = true;
  let isOutdated = false;
  return {
    now: () => run,
    isFresh: () => isFresh,
    used() {
      isFresh = false;
    },
    async change(change) {
      if (!hasChange(change) && !isOutdated) return;
      const changed = withChange(options, change);
      const next = await runs.open(changed, reporting, context());
      await run.close();
      run = next;
      options = keepSettings(changed, next.settings);
      isFresh = true;
      isOutdated = false;
      onOpened(next);
    },
    renew() {
      isOutdated = true;
    },
    borrow: (adjust) => runs.open(adjust(options), reporting, context()),
    close: () => run.close(),
  };
}

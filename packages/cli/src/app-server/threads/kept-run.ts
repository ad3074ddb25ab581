// What a thread keeps open between turns: workspace, MCP servers, hooks. Opened anew when a client wants it otherwise.
import type { Program } from "../../program.ts";
import { type Circumstances, openRun, type Run } from "../../run.ts";
import type { RunOptions } from "../../run-options.ts";
import { isWish, keepSettings, type Wish, withWish } from "./wishes.ts";

export interface KeptRun {
  now(): Run;
  /** Whether the run at hand has written nothing yet. */
  isFresh(): boolean;
  used(): void;
  /** The wish holds from now on. One that cannot be had leaves everything as it was. */
  change(wish: Wish): Promise<void>;
  /** The next change opens it anew, whether or not anything is wished. */
  renew(): void;
  /** A run for one turn; the kept one stays. */
  borrow(adjust: (options: RunOptions) => RunOptions): Promise<Run>;
  close(): Promise<void>;
}

export interface KeptRunHost {
  program: Program;
  around(): Circumstances;
  onOpened(run: Run): void;
}

export async function keepRun(first: RunOptions, { program, around, onOpened }: KeptRunHost): Promise<KeptRun> {
  let run = await openRun(first, program, around());
  let options = keepSettings(first, run.settings);
  let isFresh = true;
  let isOutdated = false;
  return {
    now: () => run,
    isFresh: () => isFresh,
    used() {
      isFresh = false;
    },
    async change(wish) {
      if (!isWish(wish) && !isOutdated) return;
      const wanted = withWish(options, wish);
      const next = await openRun(wanted, program, around());
      await run.close();
      run = next;
      options = keepSettings(wanted, next.settings);
      isFresh = true;
      isOutdated = false;
      onOpened(next);
    },
    renew() {
      isOutdated = true;
    },
    borrow: (adjust) => openRun(adjust(options), program, around()),
    close: () => run.close(),
  };
}

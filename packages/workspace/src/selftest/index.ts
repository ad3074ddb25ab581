// The sandbox selftest, loaded when it is run.
import type { AttemptResult, SelftestOptions } from "./run.ts";

export type { AttemptResult, SelftestOptions } from "./run.ts";

/** Tries to break out, one way after the other. */
export async function* runSelftest(options: SelftestOptions): AsyncGenerator<AttemptResult> {
  yield* (await import("./run.ts")).runSelftest(options);
}

// Runs the cases of test files, several at a time.
import { availableParallelism } from "node:os";
import type { CaseFile } from "./case.ts";
import type { FileReport, TestReport } from "./report.ts";
import { type CaseResult, type CaseRunner, runCase } from "./run-case.ts";

export async function runFiles(files: CaseFile[], runner: CaseRunner, root: string): Promise<TestReport> {
  const startedAt = performance.now();
  const cases = files.flatMap((file) => file.cases.filter(({ replies }) => replies.kind !== "none"));
  const results = await runSeveral(cases, (one) => runCase(one, runner), runner.program.signal);
  const reports = files.map(
    ({ path, problems, cases: all }): FileReport => ({
      path,
      problems,
      results: results.filter((result) => result.case.path === path),
      skipped: all.filter(({ replies }) => replies.kind === "none"),
    }),
  );
  return { root, files: reports, durationMs: performance.now() - startedAt };
}

/** In their order, several for each processor, since they wait for programs; none begins after an abort. */
async function runSeveral<One>(
  all: One[],
  run: (one: One) => Promise<CaseResult>,
  signal: AbortSignal,
): Promise<CaseResult[]> {
  const results = new Map<One, CaseResult>();
  const left = [...all];
  const work = async () => {
    for (let one = left.shift(); one !== undefined && !signal.aborted; one = left.shift())
      results.set(one, await run(one));
  };
  await Promise.all(Array.from({ length: Math.max(4, 2 * availableParallelism()) }, work));
  return all.flatMap((one) => results.get(one) ?? []);
}

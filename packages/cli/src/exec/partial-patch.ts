// When a run is stopped for want of budget, what it changed is kept beside its session as well.
import { writeFileSync } from "node:fs";
import type { ThreadState } from "@agentcli/engine";
import { git } from "@agentcli/host/git";
import type { ProgramRun } from "./run.ts";

export async function keepPartialPatch(state: ThreadState, run: ProgramRun): Promise<void> {
  const session = run.sessionPath(state.threadId);
  const patch = session && (await changes(run));
  if (!session || !patch?.length) return;
  const path = session.replace(/\.jsonl$/, ".partial.patch");
  writeFileSync(path, patch, { mode: 0o600 });
  run.program.reporter.log(`The changes so far are also kept in ${path}`);
}

/** Everything that differs from the last commit, new files included. Empty where git does not answer. */
async function changes({ settings: { cwd }, program: { environment, reporter } }: ProgramRun): Promise<Buffer> {
  const output = async (...args: string[]) => (await git({ directory: cwd, environment, args })).stdout;
  const diff = (...args: string[]) => output("diff", "--binary", ...args);
  try {
    const patch = [await diff("HEAD", "--")];
    const untracked = await output("ls-files", "--others", "--exclude-standard", "-z");
    for (const file of untracked.toString().split("\0").filter(Boolean)) {
      patch.push(await diff("--no-index", "--", "/dev/null", file));
    }
    return Buffer.concat(patch);
  } catch (error) {
    reporter.log(`warning: the changes so far could not be collected: ${(error as Error).message}`);
    return Buffer.alloc(0);
  }
}

// When a run is stopped for want of budget, what it changed is kept beside its session as well.
import { writeFileSync } from "node:fs";
import type { ThreadState } from "@agentcli/engine";
import { git } from "./git.ts";
import type { Run } from "./run.ts";

export async function keepPartialPatch(state: ThreadState, run: Run): Promise<void> {
  const session = run.sessionPath(state.threadId);
  const patch = session && (await changes(run.settings.cwd));
  if (!session || !patch) return;
  const path = session.replace(/\.jsonl$/, ".partial.patch");
  writeFileSync(path, patch, { mode: 0o600 });
  run.program.reporter.say(`The changes so far are also kept in ${path}`);
}

/** Everything that differs from the last commit, new files included. */
async function changes(cwd: string): Promise<string> {
  const tracked = await git(cwd, ["diff", "--binary", "--no-ext-diff", "--no-textconv", "HEAD", "--"]);
  const untracked = await git(cwd, ["ls-files", "--others", "--exclude-standard", "-z"]);
  const added: string[] = [];
  for (const file of untracked.stdout.split("\0").filter(Boolean)) {
    added.push(
      (await git(cwd, ["diff", "--binary", "--no-ext-diff", "--no-textconv", "--no-index", "--", "/dev/null", file]))
        .stdout,
    );
  }
  return tracked.stdout + added.join("");
}

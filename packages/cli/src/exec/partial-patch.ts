// When a run is stopped for want of budget, what it changed is kept beside its session as well.
import { writeFileSync } from "node:fs";
import type { ThreadState } from "@agentcli/engine";
import { type GitRequest, git } from "@agentcli/host/git";
import type { ProgramRun } from "./run.ts";

export async function keepPartialPatch(state: ThreadState, run: ProgramRun): Promise<void> {
  const session = run.sessionPath(state.threadId);
  const patch = session && (await changes(run));
  if (!session || !patch?.length) return;
  const path = session.replace(/\.jsonl$/, ".partial.patch");
  writeFileSync(path, patch, { mode: 0o600 });
  run.program.reporter.log(`The changes so far are also kept in ${path}`);
}

/** Everything that differs from the last commit, new files included. */
async function changes({ settings: { cwd }, program: { environment }, sandbox }: ProgramRun): Promise<Buffer> {
  const request = { directory: cwd, environment, isOffline: true };
  // Landlock cannot protect the settings of the repository.
  const settings = sandbox.backend === "landlock" ? await withoutFilters(request) : [];
  if (settings === null) return Buffer.alloc(0);
  const output = async (...args: string[]) => (await git({ ...request, args, settings })).stdout;
  // A look into the working tree of a submodule would run git there, under a configuration the agent may have written.
  const flags = ["--binary", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"];
  const diff = (...args: string[]) => output("diff", ...flags, ...args);
  const patch = [await diff("HEAD", "--")];
  const untracked = await output("ls-files", "--others", "--exclude-standard", "-z");
  for (const file of untracked.toString().split("\0").filter(Boolean)) {
    patch.push(await diff("--no-index", "--", "/dev/null", file));
  }
  return Buffer.concat(patch);
}

/** Settings that keep git from running the filters that any configuration names. Null if the name of one is not text. */
async function withoutFilters(request: Omit<GitRequest, "args">): Promise<NonNullable<GitRequest["settings"]> | null> {
  const { stdout } = await git({ ...request, args: ["config", "--list", "--name-only", "-z"] });
  const names = new Set(stdout.toString().split("\0"));
  const keys = [...names].filter((name) => /^filter\..*\.(?:clean|smudge|process|required)$/s.test(name));
  if (keys.some((key) => key.includes("\ufffd"))) return null;
  return keys.map((key) => ({ key, value: key.endsWith(".required") ? "false" : "" }));
}

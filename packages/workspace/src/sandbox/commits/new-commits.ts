// The commits that an import adds, and what they change.
import type { HostGit } from "./host-git.ts";

/** Below these, those that no reference reaches yet. Throws if one is missing. */
export async function listNewCommits(tips: string[], git: HostGit): Promise<string[]> {
  if (tips.length === 0) return [];
  const listed = await git.run(["rev-list", "--stdin", "--not", "--all"], Buffer.from(`${tips.join("\n")}\n`));
  return listed.split("\n").filter(Boolean);
}

/** As `git diff-tree --raw -z`: of a merge what differs from all parents, of the first commit everything. */
export async function listChanges(commits: string[], git: HostGit, paths: string[] = []): Promise<string> {
  if (commits.length === 0) return "";
  const args = ["diff-tree", "--stdin", "-r", "-c", "--root", "--raw", "--no-renames", "--no-commit-id", "-z"];
  return git.run(["--literal-pathspecs", ...args, "--", ...paths], Buffer.from(`${commits.join("\n")}\n`));
}

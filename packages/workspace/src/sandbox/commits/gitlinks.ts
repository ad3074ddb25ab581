// The gitlinks that a commit from the sandbox would add. Git outside enters the repository at each one and runs what its
// configuration names, and a command could have written that.
import { readGitlinks } from "../gitlinks.ts";
import type { IndexChange } from "./export.ts";
import type { HostGit } from "./host-git.ts";
import { listChanges } from "./new-commits.ts";

export const gitlinkMode = "160000";

/** Changes of the index with gitlinks at paths where it has none. What the sandbox says of the index before does not count. */
export function newGitlinks(changes: IndexChange[], gitDirectory: string): IndexChange[] {
  const candidates = changes.filter(({ entries }) => entries.some(({ mode }) => mode === gitlinkMode));
  if (candidates.length === 0) return [];
  const existing = readGitlinks(gitDirectory);
  return candidates.filter(({ path }) => !existing.some((known) => known.equals(path)));
}

/** Paths at which one of the commits has a gitlink and none of its parents does. */
export async function gitlinksAddedBy(commits: string[], git: HostGit): Promise<string[]> {
  const fields = (await listChanges(commits, git)).split("\0");
  return [...new Set(fields.flatMap((field, index) => (addsGitlink(field) ? (fields[index + 1] ?? "") : [])))];
}

/** `:` for each parent, the modes in the parents and in the commit, then the objects. */
function addsGitlink(field: string): boolean {
  const [, modes = ""] = /^:+((?:\d{6} )+)/.exec(field) ?? [];
  const [last, ...before] = modes.trim().split(" ").reverse();
  return last === gitlinkMode && !before.includes(gitlinkMode);
}

export const describeGitlinks = (paths: (string | Buffer)[]): string => {
  const names = paths.slice(0, 5).map((path) => JSON.stringify(path.toString()));
  const more = paths.length > names.length ? ` and ${paths.length - names.length} more` : "";
  const [subject, verb] =
    paths.length === 1 ? ["a git repository of its own", "is"] : ["git repositories of their own", "are"];
  return `${names.join(", ")}${more} ${verb} ${subject}, which the sandbox does not add`;
};

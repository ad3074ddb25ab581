// The commits that an agent's branch adds to its base, as people read them.
import { type GitLocation, messageOf, readLooseCommit, runGit, valuesOf } from "../git/index.ts";
import type { ListedCommit } from "./pull-request-body.ts";

const maxCommits = 1_000;

/** Oldest first, without commits that a merge brought in. */
export async function listCommits(
  location: GitLocation,
  { base, head }: { base: string; head: string },
  signal: AbortSignal,
): Promise<ListedCommit[]> {
  const own = listOwn(location, { base, head });
  if (own !== null) return own;
  const flags = ["-z", "--first-parent", `--max-count=${maxCommits}`, "--no-show-signature", "--format=%H %s"];
  const text = await runGit({ location, args: ["log", ...flags, head, `^${base}`, "--"] }, signal);
  const commits = text.split("\0").filter(Boolean);
  return commits.reverse().map((line) => {
    const space = line.indexOf(" ");
    return { name: line.slice(0, space), subject: line.slice(space + 1) };
  });
}

const maxOwn = 20;

/** Of most runs: a few commits that the platform has just written. Null if there are others. */
function listOwn(location: GitLocation, { base, head }: { base: string; head: string }): ListedCommit[] | null {
  const commits: ListedCommit[] = [];
  for (let name = head; name !== base; ) {
    const commit = commits.length < maxOwn ? readLooseCommit(location, name) : null;
    const [parent, ...others] = commit === null ? [] : valuesOf(commit, "parent");
    const message = commit && messageOf(commit);
    if (message === null || parent === undefined || others.length > 0) return null;
    commits.unshift({ name, subject: subjectOf(message) });
    name = parent;
  }
  return commits;
}

/** The first paragraph as one line, as git shows it. */
const subjectOf = (message: string): string =>
  (message.replace(/^\n+/, "").split(/\n[ \t]*\n/)[0] ?? "")
    .split("\n")
    .map((line) => line.trimEnd())
    .join(" ")
    .trimEnd();

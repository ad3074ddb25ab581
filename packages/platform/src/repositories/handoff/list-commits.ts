// The commits that an agent's branch adds to its base, as people read them.
import { type GitLocation, runGit } from "../git/index.ts";
import type { ListedCommit } from "./pull-request-body.ts";

const maxCommits = 1_000;

/** Oldest first, without commits that a merge brought in. */
export async function listCommits(
  location: GitLocation,
  { base, head }: { base: string; head: string },
  signal: AbortSignal,
): Promise<ListedCommit[]> {
  const flags = ["-z", "--first-parent", `--max-count=${maxCommits}`, "--no-show-signature", "--format=%H %s"];
  const text = await runGit({ location, args: ["log", ...flags, head, `^${base}`, "--"] }, signal);
  const commits = text.split("\0").filter(Boolean);
  return commits.reverse().map((line) => {
    const space = line.indexOf(" ");
    return { name: line.slice(0, space), subject: line.slice(space + 1) };
  });
}

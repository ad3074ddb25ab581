// How many lines an agent's branch adds to its base and removes from it. Binary files have none.
import { type GitLocation, runGit } from "../git/index.ts";

export interface ChangedLines {
  lines_added: number;
  lines_removed: number;
}

const stableFlags = ["--no-ext-diff", "--no-textconv", "--find-renames", "--ignore-submodules=all"];

export async function countLines(
  location: GitLocation,
  { base, head }: { base: string; head: string },
  signal: AbortSignal,
): Promise<ChangedLines> {
  // A line is `added removed name`, with dashes for a binary file. Git quotes line breaks and tabs in names.
  const args = ["diff", "--numstat", ...stableFlags, base, head, "--"];
  const text = await runGit({ location, args }, signal);
  const counts = [...text.matchAll(/^(\d+)\t(\d+)\t/gm)];
  const sum = (group: 1 | 2) => counts.reduce((total, count) => total + Number(count[group]), 0);
  return { lines_added: sum(1), lines_removed: sum(2) };
}

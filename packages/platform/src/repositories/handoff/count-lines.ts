// How many lines an agent's branch adds to its base and removes from it. Binary files have none.
import { type GitLocation, runGit } from "../git/index.ts";

/** Null where git could not count them in time: a hand-off does not fail for it. */
export interface ChangedLines {
  lines_added: number | null;
  lines_removed: number | null;
}

const stableFlags = ["--no-ext-diff", "--no-textconv", "--find-renames", "--ignore-submodules=all"];
const limitMs = 20_000;

export async function countLines(
  location: GitLocation,
  { base, head }: { base: string; head: string },
  signal: AbortSignal,
): Promise<ChangedLines> {
  const args = ["diff", "--shortstat", ...stableFlags, base, head, "--"];
  try {
    // ` 2 files changed, 3 insertions(+), 1 deletion(-)`, without what there is none of.
    const text = await runGit({ location, args, limitMs }, signal);
    const count = (what: RegExp) => Number(what.exec(text)?.[1] ?? 0);
    return { lines_added: count(/(\d+) insertion/), lines_removed: count(/(\d+) deletion/) };
  } catch (error) {
    if (signal.aborted) throw error;
    return { lines_added: null, lines_removed: null };
  }
}

// Brings commits that the agent made into the host's own git directory. Objects are packed anew and named by their content
// on the way, so that nothing comes over that is not what it says.
import { pipeline } from "node:stream/promises";
import { GitFailed, type GitPlace, gitSucceeds, startGit } from "../git/index.ts";

export interface Transfer {
  from: GitPlace;
  to: GitPlace;
  /** What to bring, and what is there already. */
  commit: string;
  known: string[];
}

const mostBytes = 2 * 1024 * 1024 * 1024;
const limitMs = 10 * 60_000;

/** False where the commit is not whole: something it needs is missing, or is not what its name says. */
export async function takeOver({ from, to, commit, known }: Transfer, signal: AbortSignal): Promise<boolean> {
  try {
    await transfer({ from, to, commit, known }, signal);
  } catch (error) {
    if (error instanceof GitFailed) return false;
    throw error;
  }
  const args = [
    "rev-list",
    "--objects",
    "--quiet",
    "--missing=allow-promisor",
    commit,
    ...known.map((name) => `^${name}`),
  ];
  return gitSucceeds({ place: to, args, limitMs }, signal);
}

/** Objects that `commit` has and `known` have not, from one git directory into another. */
async function transfer({ from, to, commit, known }: Transfer, signal: AbortSignal): Promise<void> {
  const packing = {
    place: from,
    args: ["pack-objects", "--revs", "--stdout", "-q", "--missing=allow-promisor"],
    limitMs,
  };
  const keeping = {
    place: to,
    args: ["index-pack", "--stdin", "--fsck-objects", `--max-input-size=${mostBytes}`],
    limitMs,
  };
  const [packer, keeper] = [startGit(packing), startGit(keeping)];
  packer.stdin.end([commit, ...known.map((name) => `^${name}`)].map((line) => `${line}\n`).join(""));
  keeper.stdout.resume();
  const ends = [packer.ended(packing, signal), keeper.ended(keeping, signal)];
  try {
    // Where one side fails first, its exit says why; the pipe only breaks.
    const [packed, kept] = await Promise.all([...ends, pipeline(packer.stdout, keeper.stdin).catch(() => {})]);
    for (const { code, said } of [packed, kept].filter((end) => end !== undefined))
      if (code !== 0) throw new GitFailed("pack-objects", said);
  } catch (error) {
    packer.destroy(error as Error);
    keeper.destroy(error as Error);
    await Promise.allSettled(ends);
    throw error;
  }
}

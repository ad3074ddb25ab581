// Copies commits between the agent's and the host's git directories. Objects are repacked and their names recomputed from their
// content, so that no object arrives under a wrong name.
import { randomUUID } from "node:crypto";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { GitFailed, type GitLocation, gitSucceeds, type Pack, runGit, startGit } from "../git/index.ts";

export interface Transfer {
  from: GitLocation;
  to: GitLocation;
  /** The commit to copy, and commits that the target already has. */
  commit: string;
  exclude: string[];
  verify?: Verification;
}

/** `--strict`: also that the target has whatever the copied objects name. */
type Verification = "--fsck-objects" | "--strict";

const maxBytes = 2 * 1024 * 1024 * 1024;
const limitMs = 10 * 60_000;

/** False if the commit is incomplete: an object is missing or does not match its name. */
export async function copyCommit({ from, to, commit, exclude }: Transfer, signal: AbortSignal): Promise<boolean> {
  try {
    await transfer({ from, to, commit, exclude }, signal);
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
    ...exclude.map((name) => `^${name}`),
  ];
  return gitSucceeds({ location: to, args, limitMs }, signal);
}

/** Copies objects reachable from `commit` but not from `exclude`. Throws GitFailed. */
export async function transfer(
  { from, to, commit, exclude, verify = "--fsck-objects" }: Transfer,
  signal: AbortSignal,
): Promise<void> {
  const packCall = {
    location: from,
    args: ["pack-objects", "--revs", "--stdout", "-q", "--missing=allow-promisor"],
    limitMs,
  };
  const indexCall = indexing(to, verify);
  const [packer, indexer] = [startGit(packCall), startGit(indexCall)];
  packer.stdin.end(revisions(commit, exclude));
  indexer.stdout.resume();
  const ends = [packer.ended(packCall, signal), indexer.ended(indexCall, signal)];
  try {
    // If one side fails, its exit code and stderr have the cause; the pipe error does not.
    const [packResult, indexResult] = await Promise.all([
      ...ends,
      pipeline(packer.stdout, indexer.stdin).catch(() => {}),
    ]);
    for (const { code, stderr } of [packResult, indexResult].filter((end) => end !== undefined))
      if (code !== 0) throw new GitFailed("pack-objects", stderr);
  } catch (error) {
    packer.destroy(error as Error);
    indexer.destroy(error as Error);
    await Promise.allSettled(ends);
    throw error;
  }
}

const indexing = (to: GitLocation, verify: Verification) => ({
  location: to,
  args: ["index-pack", "--stdin", verify, `--max-input-size=${maxBytes}`],
  limitMs,
});

/** Copies the objects of a pack. Throws GitFailed. */
export async function indexPack(
  { pack }: Pack,
  { to, verify }: { to: GitLocation; verify: Verification },
  signal: AbortSignal,
): Promise<void> {
  await runGit({ ...indexing(to, verify), input: pack }, signal);
}

/** Into an object directory of which nothing is trusted: a rename replaces a file or link that is there. */
export async function writePack(objects: string, { name, pack, index }: Pack): Promise<void> {
  // The index last: with it git takes the pack for complete.
  for (const [ending, content] of Object.entries({ pack, idx: index })) {
    const draft = join(objects, `pack/tmp_${ending}_${randomUUID()}`);
    await writeFile(draft, content, { flag: "wx", mode: 0o444 });
    await rename(draft, join(objects, `pack/pack-${name}.${ending}`));
  }
}

/**
 * Writes the objects of a transfer as a pack into an object directory, of which nothing is trusted or asked. Git prefers the newest
 * pack, so an object there that does not match its name counts no more. False if an object is missing.
 */
export function packInto(objects: string, { from, commit, exclude }: Omit<Transfer, "to">, signal: AbortSignal) {
  const args = ["pack-objects", "--revs", "-q", "--missing=allow-promisor", join(objects, "pack/pack")];
  return gitSucceeds({ location: from, args, input: revisions(commit, exclude), limitMs }, signal);
}

const revisions = (commit: string, exclude: string[]) =>
  [commit, ...exclude.map((name) => `^${name}`)].map((line) => `${line}\n`).join("");

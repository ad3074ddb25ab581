// The change under review as a diff, taken from the repository before the run.
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { ReviewTarget } from "@agentcli/engine/review";
import type { Program } from "../program.ts";
import { ask, type Git, openGit } from "./git.ts";
import { findBase, findMergeBase, firstParent, readCommit } from "./revisions.ts";
import type { RequestedTarget } from "./target.ts";

export interface CollectedChange {
  target: ReviewTarget;
  root: string;
  /** What shows the same change again. */
  command: string;
  diff: string;
  /** Why there is no change, for when there is none. */
  nothing: string;
}

export async function collectChange(
  target: Exclude<RequestedTarget, { kind: "custom" }>,
  directory: string,
  program: Program,
): Promise<CollectedChange> {
  const top = await openGit(directory, program)(["rev-parse", "--show-toplevel"]);
  const root = top.toString().replace(/\n$/, "");
  const git = openGit(root, program);
  switch (target.kind) {
    case "uncommitted":
      return { root, ...(await uncommitted(git, root)) };
    case "base":
      return { root, ...(await againstBase(git, target.branch)) };
    case "commit":
      return { root, ...(await ofCommit(git, target)) };
  }
}

type Collected = Omit<CollectedChange, "root">;

/** Untracked files are made known to a copy of the index, so that one diff has everything and sees renames. */
async function uncommitted(git: Git, root: string): Promise<Collected> {
  const head = (await ask(git, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])) ?? (await emptyTree(git));
  const directory = await mkdtemp(join(tmpdir(), "agentcli-review-"));
  try {
    const indexFile = join(directory, "index");
    await copyIndex(git, root, indexFile);
    const untracked = await untrackedFiles(git);
    if (untracked.length > 0)
      await git(["add", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul"], {
        input: untracked,
        indexFile,
      });
    return {
      target: { kind: "uncommitted" },
      command: "git diff HEAD, and git status for untracked files",
      diff: await diffOf(git, [head], indexFile),
      nothing: "there are no staged, unstaged or untracked changes.",
    };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function againstBase(git: Git, branch: string): Promise<Collected> {
  const base = await findBase(git, branch);
  const head = await readCommit(git, "HEAD");
  const mergeBase = await findMergeBase(git, base);
  return {
    target: { kind: "base", branch: base.name, mergeBase },
    command: `git diff ${mergeBase} ${head.sha}`,
    diff: await diffOf(git, [mergeBase, head.sha]),
    nothing: `the current branch adds nothing to ${base.name}.`,
  };
}

/** A merge is what it brought to its first parent; a first commit is everything in it. */
async function ofCommit(git: Git, { name, title }: Extract<RequestedTarget, { kind: "commit" }>): Promise<Collected> {
  const commit = await readCommit(git, name);
  const before = (await firstParent(git, commit)) ?? (await emptyTree(git));
  return {
    target: { kind: "commit", sha: commit.sha, title: title ?? commit.subject },
    command: `git diff ${before} ${commit.sha}`,
    diff: await diffOf(git, [before, commit.sha]),
    nothing: `commit ${commit.sha} changes no files.`,
  };
}

const diffFlags = [
  ...["--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--find-renames", "-O/dev/null"],
  ...["--unified=3", "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/"],
  // A look into the working tree of a submodule would run git there, under that repository's configuration.
  ...["--submodule=short", "--ignore-submodules=dirty"],
];

const diffOf = async (git: Git, revisions: string[], indexFile?: string): Promise<string> =>
  (await git(["diff", ...diffFlags, ...revisions, "--"], { indexFile })).toString();

const emptyTree = async (git: Git): Promise<string> =>
  (await git(["hash-object", "-t", "tree", "--stdin"])).toString().trim();

async function copyIndex(git: Git, root: string, to: string): Promise<void> {
  const index = resolve(root, (await git(["rev-parse", "--git-path", "index"])).toString().trim());
  try {
    await copyFile(index, to);
  } catch (error) {
    // A repository in which nothing was ever added has no index.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

/** Names as bytes, each with a zero behind it. Other repositories within (their names end with a slash) are not part of this one. */
async function untrackedFiles(git: Git): Promise<Buffer> {
  const listed = await git(["ls-files", "--others", "--exclude-standard", "-z"]);
  const names: Buffer[] = [];
  for (let start = 0, end = listed.indexOf(0); end !== -1; start = end + 1, end = listed.indexOf(0, start)) {
    if (listed[end - 1] !== slash) names.push(listed.subarray(start, end + 1));
  }
  return Buffer.concat(names);
}

const slash = 0x2f;

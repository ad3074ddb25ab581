// The change under review as a diff, taken from the repository before the run.
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { ChangedFile, ReviewTarget } from "@agentcli/engine/review";
import type { Program } from "../program.ts";
import { readDiff } from "./diff.ts";
import { ask, type Git, type GitStream, openGit, openGitStream } from "./git.ts";
import { findBase, findMergeBase, firstParent, readCommit } from "./revisions.ts";
import type { RequestedTarget } from "./target.ts";
import { addUntracked } from "./untracked.ts";

export interface CollectedChange {
  target: ReviewTarget;
  root: string;
  /** What shows the same change again. */
  command: string;
  files: ChangedFile[];
  /** Why there is no change, for when there is none. */
  nothing: string;
}

export interface CollectOptions {
  directory: string;
  program: Pick<Program, "environment" | "signal">;
  /** Of one file; the rest is only counted. */
  maxBytes: number;
  onProgress(line: string): void;
}

export async function collectChange(
  target: Exclude<RequestedTarget, { kind: "custom" }>,
  options: CollectOptions,
): Promise<CollectedChange> {
  const { directory, program } = options;
  options.onProgress("Collecting the change …");
  const top = await openGit(directory, program)(["rev-parse", "--show-toplevel"]);
  const root = top.toString().replace(/\n$/, "");
  const repository = { ...options, root, git: openGit(root, program), stream: openGitStream(root, program) };
  const collected = await collectFrom(repository, target);
  options.onProgress(`The change: ${summaryOf(collected.files)}.`);
  return { root, ...collected };
}

interface Repository extends CollectOptions {
  git: Git;
  stream: GitStream;
  root: string;
}

function collectFrom(repository: Repository, target: Exclude<RequestedTarget, { kind: "custom" }>) {
  switch (target.kind) {
    case "uncommitted":
      return uncommitted(repository);
    case "base":
      return againstBase(repository, target.branch);
    case "commit":
      return ofCommit(repository, target);
  }
}

function summaryOf(files: ChangedFile[]): string {
  const lines = files.reduce((total, { changedLines }) => total + changedLines, 0);
  return `${files.length} ${files.length === 1 ? "file" : "files"}, ${lines} changed ${lines === 1 ? "line" : "lines"}`;
}

type Collected = Omit<CollectedChange, "root">;

/** Untracked files are made known to a copy of the index, so that one diff has everything and sees renames. */
async function uncommitted(repository: Repository): Promise<Collected> {
  const { git, root } = repository;
  const head = (await ask(git, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])) ?? (await emptyTree(git));
  const directory = await mkdtemp(join(tmpdir(), "agentcli-review-"));
  try {
    const indexFile = join(directory, "index");
    await copyIndex(git, root, indexFile);
    await addUntracked(git, indexFile);
    return {
      target: { kind: "uncommitted" },
      command: "git diff HEAD, and git status for untracked files",
      files: await readDiff(repository, [head], indexFile),
      nothing: "there are no staged, unstaged or untracked changes.",
    };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function againstBase(repository: Repository, branch: string): Promise<Collected> {
  const { git } = repository;
  const base = await findBase(git, branch);
  const head = await readCommit(git, "HEAD");
  const mergeBase = await findMergeBase(git, base);
  return {
    target: { kind: "base", branch: base.name, mergeBase },
    command: `git diff ${mergeBase} ${head.sha}`,
    files: await readDiff(repository, [mergeBase, head.sha]),
    nothing: `the current branch adds nothing to ${base.name}.`,
  };
}

/** A merge is what it brought to its first parent; a first commit is everything in it. */
async function ofCommit(
  repository: Repository,
  { name, title }: Extract<RequestedTarget, { kind: "commit" }>,
): Promise<Collected> {
  const { git } = repository;
  const commit = await readCommit(git, name);
  const before = (await firstParent(git, commit)) ?? (await emptyTree(git));
  return {
    target: { kind: "commit", sha: commit.sha, title: title ?? commit.subject },
    command: `git diff ${before} ${commit.sha}`,
    files: await readDiff(repository, [before, commit.sha]),
    nothing: `commit ${commit.sha} changes no files.`,
  };
}

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

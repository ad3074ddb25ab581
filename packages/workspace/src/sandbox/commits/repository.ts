// Finds the protected repository of a commit command, and the state git needs to commit.

import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { findCommonDirectory, findGitDirectory, findRepositoryRoot, readHead } from "../../git/index.ts";
import { contains } from "../../paths.ts";
import type { SandboxPolicy } from "../policy.ts";

export interface CommitRepository {
  /** Top of the working tree. */
  root: string;
  /** The git directory of this working tree. */
  gitDirectory: string;
  /** Shared by all working trees of the repository. */
  commonDirectory: string;
  /** The content of HEAD. */
  head: string;
  /** The branch as a path below refs/heads; absent when HEAD names a commit. */
  branch?: string;
  /** The commit of HEAD; absent before the first. */
  tip?: string;
}

/** Operations in progress whose state is in the repository: a commit is a step of them. */
const unfinished = ["rebase-merge", "rebase-apply"];

/** Undefined if the sandbox does not protect the repository, or a commit cannot be imported into it. */
export function findCommitRepository(directories: string[], policy: SandboxPolicy): CommitRepository | undefined {
  const tops = new Set(directories.map((directory) => topOf(resolve(policy.root, directory))));
  const [root] = tops;
  if (root === undefined || tops.size !== 1 || !isProtected(root, policy)) return undefined;
  const located = findGitDirectory(root);
  if (located === undefined) return undefined;
  const gitDirectory = realpathSync(located);
  if (unfinished.some((name) => existsSync(join(gitDirectory, name)))) return undefined;
  const head = readFileSync(join(gitDirectory, "HEAD"), "utf8").trim();
  const { branch, commit } = readHead(root);
  if (branch === null && commit === null) return undefined;
  return {
    root,
    gitDirectory,
    commonDirectory: realpathSync(findCommonDirectory(gitDirectory)),
    head,
    ...(branch !== null && { branch }),
    ...(commit !== null && { tip: commit }),
  };
}

function topOf(directory: string): string | undefined {
  try {
    return findRepositoryRoot(realpathSync(directory));
  } catch {
    // It does not exist; git will report that.
    return undefined;
  }
}

/** A repository that a command has created is writable for commands anyway. */
const isProtected = (root: string, policy: SandboxPolicy): boolean =>
  [policy.root, ...policy.writableRoots, ...policy.protectedRepositories].includes(root) || contains(root, policy.root);

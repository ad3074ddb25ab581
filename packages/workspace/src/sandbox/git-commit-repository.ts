// Finds the protected repository a commit command is about, and what of its state git needs to commit.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { findCommonDirectory, findGitDirectory, findRepositoryRoot, readHead } from "../git/repository.ts";
import { contains } from "./plan.ts";
import type { SandboxPolicy } from "./policy.ts";

export interface CommitRepository {
  /** Top of the working tree. */
  root: string;
  /** State of this working tree. */
  gitDirectory: string;
  /** What all working trees of the repository share. */
  commonDirectory: string;
  /** The file HEAD as it is. */
  head: string;
  /** The branch as a path below refs/heads; absent when HEAD names a commit. */
  branch?: string;
  /** The commit HEAD leads to; absent before the first. */
  tip?: string;
}

/** States in which a commit is a step of something larger that is kept in the repository. */
const unfinished = ["rebase-merge", "rebase-apply"];

/** Undefined where the sandbox does not protect the repository, or where it could not be committed to piece by piece. */
export function findCommitRepository(directories: string[], policy: SandboxPolicy): CommitRepository | undefined {
  const tops = new Set(directories.map((directory) => topOf(resolve(policy.root, directory))));
  const [root] = tops;
  if (root === undefined || tops.size !== 1 || !isProtected(root, policy)) return undefined;
  const found = findGitDirectory(root);
  if (found === undefined) return undefined;
  const gitDirectory = realpathSync(found);
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
    // It does not exist; git will say so.
    return undefined;
  }
}

/** A repository deeper inside belongs to the commands anyway. */
const isProtected = (root: string, policy: SandboxPolicy): boolean =>
  [policy.root, ...policy.writableRoots].includes(root) || contains(root, policy.root);

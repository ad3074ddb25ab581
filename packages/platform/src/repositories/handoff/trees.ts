// Trees of commits in the host's git directory: which paths they have, and copies without some of them.
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { askGit, type GitCall, GitFailed, type GitLocation, runGit } from "../git/index.ts";

export const treeOf = async (location: GitLocation, commit: string, signal: AbortSignal): Promise<string> =>
  (await runGit({ location, args: ["rev-parse", `${commit}^{tree}`] }, signal)).trim();

/** All paths of a commit, bytes as latin1 characters. */
export const pathsIn = (location: GitLocation, commit: string, signal: AbortSignal): Promise<string[]> =>
  listPaths({ location, args: ["ls-tree", "-r", "-z", "--name-only", commit] }, signal);

/** Paths that these commits have added, also if a later one has removed them. A merge adds what none of its parents has. */
export async function pathsAdded(location: GitLocation, commits: string[], signal: AbortSignal): Promise<string[]> {
  if (commits.length === 0) return [];
  const flags = ["--format=", "--name-status", "-z", "--diff-merges=combined", "--no-renames", "--no-ext-diff"];
  const args = ["log", "--no-walk", ...flags, "--stdin"];
  const fields = await listFields({ location, args, input: commits.join("\n") }, signal);
  // A status, with one letter for each parent, and the path that has it.
  return [...new Set(fields.filter((_, index) => index % 2 === 1 && /^A+$/.test(fields[index - 1] ?? "")))];
}

async function listPaths(call: GitCall, signal: AbortSignal): Promise<string[]> {
  return [...new Set(await listFields(call, signal))];
}

async function listFields(call: GitCall, signal: AbortSignal): Promise<string[]> {
  const { code, out, stderr } = await askGit(call, signal);
  if (code !== 0) throw new GitFailed(call.args[0] ?? "", stderr);
  return out.toString("latin1").split("\0").filter(Boolean);
}

/** The same tree without these paths, whether or not it has them. */
export async function treeWithout(
  { location, tree, paths }: { location: GitLocation; tree: string; paths: string[] },
  signal: AbortSignal,
): Promise<string> {
  if (paths.length === 0) return tree;
  const indexFile = join(location.directory, `index-${randomUUID()}`);
  const scratch = { ...location, indexFile };
  try {
    await runGit({ location: scratch, args: ["read-tree", tree] }, signal);
    const none = "0".repeat(tree.length);
    const input = Buffer.from(paths.map((path) => `0 ${none}\t${path}\0`).join(""), "latin1");
    await runGit({ location: scratch, args: ["update-index", "-z", "--index-info"], input }, signal);
    return (await runGit({ location: scratch, args: ["write-tree"] }, signal)).trim();
  } finally {
    await rm(indexFile, { force: true });
  }
}

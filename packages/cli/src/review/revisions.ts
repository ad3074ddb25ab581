// Names of branches and commits as the commits they mean.
import { CommandError } from "@agentcli/command-line";
import { nearest } from "@agentcli/project/nearest";
import { ask, type Git } from "./git.ts";

export interface Commit {
  sha: string;
  parents: string[];
  subject: string;
}

/** A branch by its name, here or on a remote; anything else that names a commit will do. */
export async function findBase(git: Git, branch: string): Promise<{ name: string; sha: string }> {
  const remotes = (await git(["remote"])).toString().split("\n").filter(Boolean);
  for (const name of [branch, ...remotes.map((remote) => `${remote}/${branch}`)]) {
    const sha = await findCommit(git, name);
    if (sha !== null) return { name, sha };
  }
  throw new CommandError(
    "usage",
    `There is no branch "${branch}" in this repository. ${await suggestion(git, branch)}`,
  );
}

export async function findMergeBase(git: Git, base: { name: string; sha: string }): Promise<string> {
  const found = await ask(git, ["merge-base", base.sha, "HEAD"]);
  if (found) return found;
  throw new CommandError(
    "usage",
    `The current branch and ${base.name} have no common commit. If this clone is shallow, run git fetch --unshallow; otherwise name another base with --base.`,
  );
}

export async function readCommit(git: Git, name: string): Promise<Commit> {
  const sha = await findCommit(git, name);
  if (sha === null)
    throw new CommandError(
      "usage",
      `There is no commit "${name}" in this repository. List them with git log --oneline.`,
    );
  const text = (await git(["cat-file", "commit", sha])).toString();
  const end = text.indexOf("\n\n");
  const parents = [...text.slice(0, end).matchAll(/^parent ([0-9a-f]+)$/gm)].map((match) => match[1] ?? "");
  return { sha, parents, subject: text.slice(end + 2).split("\n")[0] ?? "" };
}

/** The commit object names its parents even where a shallow clone does not have them. */
export async function firstParent(git: Git, commit: Commit): Promise<string | null> {
  const [parent] = commit.parents;
  if (parent === undefined || (await findCommit(git, parent)) !== null) return parent ?? null;
  throw new CommandError(
    "usage",
    `The parent of commit ${commit.sha} is not in this shallow clone. Fetch it first: git fetch --deepen=1.`,
  );
}

const findCommit = (git: Git, name: string): Promise<string | null> =>
  name.trim() === ""
    ? Promise.resolve(null)
    : ask(git, ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`]);

const maxSuggestions = 5;

async function suggestion(git: Git, branch: string): Promise<string> {
  const listed = (await git(["for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes"])).toString();
  const names = listed.split("\n").filter(Boolean);
  const near = nearest(branch, names);
  const alike = names.filter((name) => name === near || (branch.length > 2 && name.includes(branch)));
  if (alike.length > 0) return `Did you mean ${alike.slice(0, maxSuggestions).join(", ")}?`;
  const more = names.length > maxSuggestions ? ", …" : "";
  return names.length === 0 ? "It has no branches." : `Branches: ${names.slice(0, maxSuggestions).join(", ")}${more}.`;
}

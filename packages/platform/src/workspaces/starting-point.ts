// Where an agent starts and what it pushes to, from what was asked for and what the repository offers. Pure.
import type { AgentRepository } from "../db/index.ts";
import { RepositoryFault } from "../git/index.ts";
import { type Advertisement, isCommitName } from "../scm/index.ts";

export interface StartingPoint {
  /** A whole object name, or an abbreviated one that only the repository can tell. */
  commit: string;
  branch: string;
  /** What a pull request would go to. */
  baseBranch: string;
}

export interface Wish {
  repository: AgentRepository;
  workOnCurrentBranch: boolean;
  /** For work of its own. */
  newBranch: string;
  /** Of the pull request that was named, where one was. */
  pullRequest: PullRequestBranches | undefined;
}

export interface PullRequestBranches {
  head: string;
  base: string;
}

export function chooseStart(wish: Wish, advertisement: Advertisement): StartingPoint {
  const start = startOf(wish, advertisement);
  if (!wish.workOnCurrentBranch) refuseTaken(start, advertisement);
  return start;
}

/** Work on a branch that somebody has already would go past every review; one that git cannot make would be lost. */
function refuseTaken({ branch, baseBranch }: StartingPoint, { references }: Advertisement): void {
  const refuse = (what: string) =>
    new RepositoryFault("push_rejected", `"${branch}" ${what}. Name another branch for the agent.`);
  if (branch === baseBranch) throw refuse("is the branch the work starts from");
  const full = `refs/heads/${branch}`;
  if (references.has(full)) throw refuse("is a branch of the repository already");
  const clash = [...references.keys()].find((name) => name.startsWith(`${full}/`) || full.startsWith(`${name}/`));
  if (clash !== undefined)
    throw refuse(`cannot be made beside the branch "${clash.slice("refs/heads/".length)}", of which it is a part`);
}

function startOf(wish: Wish, advertisement: Advertisement): StartingPoint {
  const { pullRequest, workOnCurrentBranch, newBranch } = wish;
  if (pullRequest !== undefined) {
    const { head, base } = pullRequest;
    if (!workOnCurrentBranch) return { commit: branchTip(base, advertisement), branch: newBranch, baseBranch: base };
    return { commit: branchTip(head, advertisement), branch: head, baseBranch: base };
  }
  const start = findStart(wish.repository.startingRef, advertisement);
  if (!workOnCurrentBranch)
    return { commit: start.commit, branch: newBranch, baseBranch: start.branch ?? usualBranch(advertisement) };
  if (start.branch === undefined)
    throw notFound(`workOnCurrentBranch needs a branch to push to, and "${wish.repository.startingRef}" is none.`);
  return { commit: start.commit, branch: start.branch, baseBranch: usualBranch(advertisement) };
}

interface Start {
  commit: string;
  branch?: string;
}

/** A branch before a tag before a commit, as git looks names up for a person. */
function findStart(reference: string | undefined, advertisement: Advertisement): Start {
  if (reference === undefined) {
    const branch = usualBranch(advertisement);
    return { commit: branchTip(branch, advertisement), branch };
  }
  const { references } = advertisement;
  if (reference === "HEAD" && !references.has("refs/heads/HEAD")) return findStart(undefined, advertisement);
  const branch = reference.replace(/^refs\/heads\//, "");
  const tip = references.get(`refs/heads/${branch}`);
  if (tip !== undefined) return { commit: tip, branch };
  const tag = `refs/tags/${reference.replace(/^refs\/tags\//, "")}`;
  const tagged = references.get(`${tag}^{}`) ?? references.get(tag);
  if (tagged !== undefined) return { commit: tagged };
  if (isCommitName(reference)) return { commit: reference };
  throw notFound(`The repository has no branch, tag or commit "${reference}". Check startingRef.`);
}

function branchTip(branch: string, { references }: Advertisement): string {
  const tip = references.get(`refs/heads/${branch}`);
  if (tip === undefined) throw notFound(`The repository has no branch "${branch}".`);
  return tip;
}

function usualBranch({ defaultBranch, references }: Advertisement): string {
  const names = [defaultBranch, "main", "master"].filter((name) => name !== undefined);
  const found = names.find((name) => references.has(`refs/heads/${name}`));
  if (found !== undefined) return found;
  throw notFound("The repository has no usual branch. Name one as startingRef.");
}

/**
 * The branches of a pull request on a host we know nothing of but git: hosts offer its head under a name of their own,
 * and the branch is the one that is at the same commit. What it goes to is not offered; the usual branch is taken.
 */
export function guessPullRequest(number: number, advertisement: Advertisement): PullRequestBranches {
  const { references } = advertisement;
  const head = [`refs/pull/${number}/head`, `refs/merge-requests/${number}/head`, `refs/pull-requests/${number}/from`]
    .map((name) => references.get(name))
    .find((object) => object !== undefined);
  if (head === undefined) throw notFound(`The repository offers no pull request ${number}. Check prUrl.`);
  const base = usualBranch(advertisement);
  const branches = [...references].filter(([name, object]) => object === head && name.startsWith("refs/heads/"));
  const names = branches.map(([name]) => name.slice("refs/heads/".length)).filter((name) => name !== base);
  if (names[0] === undefined || names.length > 1)
    throw notFound(`The branch of pull request ${number} cannot be told from outside. Name it as startingRef.`);
  return { head: names[0], base };
}

const notFound = (message: string) => new RepositoryFault("ref_not_found", message);

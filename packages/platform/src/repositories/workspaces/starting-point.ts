// Chooses the commit an agent starts from and the branch it pushes to, from the request and the advertised references. Pure.
import type { AgentRepository } from "../../foundation/index.ts";
import { RepositoryFault } from "../git/index.ts";
import { type Advertisement, isCommitName } from "../scm/index.ts";

export interface StartingPoint {
  /** A full object name, or an abbreviated one that only the repository can resolve. */
  commit: string;
  branch: string;
  /** The target branch of a pull request. */
  baseBranch: string;
}

export interface StartRequest {
  repository: AgentRepository;
  workOnCurrentBranch: boolean;
  /** The branch to create, unless it works on the current branch. */
  newBranch: string;
  /** Branches of the requested pull request, if any. */
  pullRequest: PullRequestBranches | undefined;
}

export interface PullRequestBranches {
  head: string;
  base: string;
}

export function chooseStart(request: StartRequest, advertisement: Advertisement): StartingPoint {
  const start = startOf(request, advertisement);
  if (!request.workOnCurrentBranch) checkBranchIsFree(start, advertisement);
  return start;
}

/** Pushing to an existing branch would bypass review; a branch that git cannot create would lose the work. */
function checkBranchIsFree({ branch, baseBranch }: StartingPoint, { references }: Advertisement): void {
  const refuse = (what: string) =>
    new RepositoryFault("push_rejected", `"${branch}" ${what}. Name another branch for the agent.`);
  if (branch === baseBranch) throw refuse("is the branch the work starts from");
  const full = `refs/heads/${branch}`;
  if (references.has(full)) throw refuse("is a branch of the repository already");
  const clash = [...references.keys()].find((name) => name.startsWith(`${full}/`) || full.startsWith(`${name}/`));
  if (clash !== undefined)
    throw refuse(`cannot be made beside the branch "${clash.slice("refs/heads/".length)}", of which it is a part`);
}

function startOf(request: StartRequest, advertisement: Advertisement): StartingPoint {
  const { pullRequest, workOnCurrentBranch, newBranch } = request;
  if (pullRequest !== undefined) {
    const { head, base } = pullRequest;
    if (!workOnCurrentBranch) return { commit: branchTip(base, advertisement), branch: newBranch, baseBranch: base };
    return { commit: branchTip(head, advertisement), branch: head, baseBranch: base };
  }
  const start = findStart(request.repository.startingRef, advertisement);
  if (!workOnCurrentBranch)
    return { commit: start.commit, branch: newBranch, baseBranch: start.branch ?? defaultBranchOf(advertisement) };
  if (start.branch === undefined)
    throw notFound(
      `workOnCurrentBranch needs a branch to push to, and "${request.repository.startingRef}" is not one.`,
    );
  return { commit: start.commit, branch: start.branch, baseBranch: defaultBranchOf(advertisement) };
}

interface Start {
  commit: string;
  branch?: string;
}

/** Prefers a branch over a tag over a commit. */
function findStart(reference: string | undefined, advertisement: Advertisement): Start {
  if (reference === undefined) {
    const branch = defaultBranchOf(advertisement);
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

function defaultBranchOf({ defaultBranch, references }: Advertisement): string {
  const names = [defaultBranch, "main", "master"].filter((name) => name !== undefined);
  const found = names.find((name) => references.has(`refs/heads/${name}`));
  if (found !== undefined) return found;
  throw notFound("The repository has no default branch. Specify one as startingRef.");
}

/**
 * Guesses the branches of a pull request on a host with plain git access only: the host advertises its head under a
 * host-specific reference, and the branch at the same commit is its head branch. The target is unknown: the default branch is used.
 */
export function guessPullRequest(number: number, advertisement: Advertisement): PullRequestBranches {
  const { references } = advertisement;
  const head = [`refs/pull/${number}/head`, `refs/merge-requests/${number}/head`, `refs/pull-requests/${number}/from`]
    .map((name) => references.get(name))
    .find((object) => object !== undefined);
  if (head === undefined) throw notFound(`The repository offers no pull request ${number}. Check prUrl.`);
  const base = defaultBranchOf(advertisement);
  const branches = [...references].filter(([name, object]) => object === head && name.startsWith("refs/heads/"));
  const names = branches.map(([name]) => name.slice("refs/heads/".length)).filter((name) => name !== base);
  if (names[0] === undefined || names.length > 1)
    throw notFound(`The branch of pull request ${number} could not be determined. Specify it as startingRef.`);
  return { head: names[0], base };
}

const notFound = (message: string) => new RepositoryFault("ref_not_found", message);

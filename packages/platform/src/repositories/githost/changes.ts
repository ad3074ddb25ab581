// Commits, diff and merge of a pull request in a hosted repository.
import { ApiError } from "../../foundation/index.ts";
import {
  askGit,
  type CommitSigner,
  commitText,
  GitFailed,
  gitSucceeds,
  type Person,
  readReferences,
  runGit,
  writeReference,
  writeSigned,
} from "../git/index.ts";
import type { HostedRepository } from "./hosted-repository.ts";

export interface PullRequestBranchNames {
  number: number;
  head: string;
  base: string;
}

const headOf = ({ number }: PullRequestBranchNames) => `refs/pull/${number}/head`;
const baseOf = ({ number }: PullRequestBranchNames) => `refs/pull/${number}/base`;

/** Undefined if the branch does not exist. By its exact name: git would also take an expression such as main^{/text}. */
export async function branchTip({ directory }: HostedRepository, branch: string): Promise<string | undefined> {
  const name = `refs/heads/${branch}`;
  return (await readReferences(directory, [name])).get(name);
}

/** Undefined if all exist. */
export async function findMissingBranch(
  { directory }: HostedRepository,
  branches: string[],
): Promise<string | undefined> {
  const tips = await readReferences(
    directory,
    branches.map((branch) => `refs/heads/${branch}`),
  );
  return branches.find((branch) => !tips.has(`refs/heads/${branch}`));
}

/** Of branches that exist. */
export const haveCommonHistory = (
  { directory }: HostedRepository,
  { head, base }: { head: string; base: string },
): Promise<boolean> =>
  gitSucceeds({ location: { directory }, args: ["merge-base", `refs/heads/${base}`, `refs/heads/${head}`] });

async function resolve({ directory }: HostedRepository, name: string): Promise<string | undefined> {
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`];
  const { code, out } = await askGit({ location: { directory }, args });
  return code === 0 ? out.toString().trim() : undefined;
}

/** Stores the heads of open pull requests as references, so that they outlive their branches. */
export async function rememberHeads({ directory }: HostedRepository, pulls: PullRequestBranchNames[]): Promise<void> {
  const names = pulls.flatMap((pull) => [`refs/heads/${pull.head}`, headOf(pull)]);
  const tips = await readReferences(directory, names);
  for (const pull of pulls) {
    const tip = tips.get(`refs/heads/${pull.head}`);
    if (tip !== undefined && tip !== tips.get(headOf(pull))) await writeReference(directory, headOf(pull), tip);
  }
}

export interface DiffRequest {
  pull: PullRequestBranchNames;
  /** `--numstat` for line counts; omit for the patch. */
  flags?: string[];
}

/** The same patch whatever the configuration is; no program of a repository is run. */
export const stableDiffFlags = [
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--find-renames",
  "--ignore-submodules=all",
];

/** As of its latest push, also when the branch is gone. */
export const headCommit = async (
  repository: HostedRepository,
  pull: PullRequestBranchNames,
): Promise<string | undefined> => (await resolve(repository, headOf(pull))) ?? (await branchTip(repository, pull.head));

/** Changes on the head since its merge base; for a merged pull request, as of the merge. */
export async function readDiff(repository: HostedRepository, { pull, flags = [] }: DiffRequest): Promise<string> {
  const head = await headCommit(repository, pull);
  const merged = await resolve(repository, baseOf(pull));
  const base = merged ?? (await branchTip(repository, pull.base));
  if (head === undefined || base === undefined) return "";
  const range = merged === undefined ? [`${base}...${head}`] : [base, head];
  return runGit({
    location: { directory: repository.directory },
    args: ["diff", ...stableDiffFlags, ...flags, ...range, "--"],
  });
}

export interface MergeRequest {
  pull: PullRequestBranchNames;
  message: string;
  author: Person;
  /** Refused if there are newer commits. */
  headCommit?: string | undefined;
  signer: CommitSigner;
}

/** Creates a signed merge commit on the base. Throws ApiError on a conflict and then changes no reference. */
export async function mergePull(
  repository: HostedRepository,
  { pull, message, author, headCommit: seen, signer }: MergeRequest,
): Promise<string> {
  const location = { directory: repository.directory };
  const [head, base] = [await branchTip(repository, pull.head), await branchTip(repository, pull.base)];
  if (head === undefined || base === undefined)
    throw conflict(`The branch "${head === undefined ? pull.head : pull.base}" is gone.`);
  if (seen !== undefined && seen !== head)
    throw conflict("There are newer commits than those you saw. Look at them first.");
  const common = (await askGit({ location, args: ["merge-base", base, head] })).out.toString().trim();
  // An earlier merge was interrupted before it was recorded.
  if (common === head) return base;
  const merged = await askGit({ location, args: ["merge-tree", "--write-tree", "--no-messages", base, head] });
  if (merged.code === 1)
    throw conflict(`"${pull.head}" cannot be merged into "${pull.base}": both changed the same lines.`);
  if (merged.code !== 0) throw new GitFailed("merge-tree", merged.stderr);
  const tree = merged.out.toString().split("\n")[0] ?? "";
  const commit = await writeSigned({
    location,
    text: commitText({ tree, parents: [base, head], author, committer: signer.platform, at: new Date(), message }),
    signer,
  });
  const updates = [`update ${headOf(pull)} ${head}`, `update refs/heads/${pull.base} ${commit} ${base}`];
  if (common !== "") updates.push(`update ${baseOf(pull)} ${common}`);
  const { code } = await askGit({ location, args: ["update-ref", "--stdin"], input: `${updates.join("\n")}\n` });
  if (code !== 0) throw conflict(`"${pull.base}" was changed in the meantime. Try again.`);
  return commit;
}

const conflict = (message: string) => new ApiError("pull_request_conflict", message);

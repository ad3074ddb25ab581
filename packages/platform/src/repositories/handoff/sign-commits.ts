// Signs commits: new ones, and those created by the agent, which has no signing key, without the files that are held back.
// Deterministic: the same input gives the same commits.
import {
  askGit,
  type CommitSigner,
  GitFailed,
  type GitLocation,
  isCommittedBy,
  isSigned,
  type ParsedCommit,
  type Person,
  parseCommit,
  rewriteCommit,
  runGit,
  valuesOf,
  writeSigned,
} from "../git/index.ts";
import { treeOf, treeWithout } from "./trees.ts";

/** The platform is the committer of agents' commits. */
export interface SigningOptions extends CommitSigner {
  author: Person;
}

export interface CommitRange {
  location: GitLocation;
  head: string;
  /** Commits reachable from these are not changed. */
  exclude: string[];
  signing: SigningOptions;
  /** Paths to leave out of these commits, bytes as latin1 characters. */
  heldBack: { paths: string[]; commits: Set<string> };
}

/**
 * Signs the agent's commits up to the head and returns the new head. Commits by others are only rewritten if a parent
 * changed. A commit of nothing but files that are held back is left out.
 */
export async function signCommits(
  { location, head, exclude, signing, heldBack }: CommitRange,
  signal: AbortSignal,
): Promise<string> {
  const rewritten = new Map<string, string>();
  for (const [name, commit] of await readCommits({ location, head, exclude }, signal)) {
    const hasRewrittenParent = valuesOf(commit, "parent").some((parent) => rewritten.has(parent));
    const isOurs = isCommittedBy(commit, signing.platform) && !isSigned(commit);
    const mustStrip = heldBack.paths.length > 0 && heldBack.commits.has(name);
    if (!hasRewrittenParent && !isOurs && !mustStrip) continue;
    const [before = ""] = valuesOf(commit, "tree");
    const paths = mustStrip ? heldBack.paths : [];
    const tree = await treeWithout({ location, tree: before, paths }, signal);
    const [parent, ...others] = valuesOf(commit, "parent").map((one) => rewritten.get(one) ?? one);
    if (tree !== before && parent && others.length === 0 && tree === (await treeOf(location, parent, signal))) {
      rewritten.set(name, parent);
      continue;
    }
    // Replaces any author the agent wrote: it works for one user and must not use another name.
    const text = rewriteCommit(commit, { tree, parents: rewritten, author: isOurs ? signing.author : null });
    rewritten.set(name, await writeSigned({ location, text, signer: signing }));
  }
  return rewritten.get(head) ?? head;
}

/** Parents come before their children. */
async function readCommits(
  { location, head, exclude }: Pick<CommitRange, "location" | "head" | "exclude">,
  signal: AbortSignal,
): Promise<[string, ParsedCommit][]> {
  const args = ["rev-list", "--topo-order", "--reverse", head, ...exclude.map((name) => `^${name}`)];
  const names = await runGit({ location, args }, signal);
  if (names === "") return [];
  const { code, out, stderr } = await askGit({ location, args: ["cat-file", "--batch"], input: names }, signal);
  if (code !== 0) throw new GitFailed("cat-file", stderr);
  return [...readBatch(out.toString("latin1"))];
}

/** Each object has a header line with name, type and size, and is followed by a newline. */
function* readBatch(text: string): Generator<[string, ParsedCommit]> {
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf("\n", at);
    const [name = "", kind, size] = text.slice(at, end).split(" ");
    if (kind !== "commit") throw new GitFailed("cat-file", `${name} is ${kind}`);
    at = end + 1 + Number(size);
    yield [name, parseCommit(text.slice(end + 1, at))];
    at += 1;
  }
}

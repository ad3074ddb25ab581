// Signs commits: new ones, and those created by the agent, which has no signing key. Deterministic: the same input gives the same commits.
import { askGit, formatOf, GitFailed, type GitLocation, runGit } from "../git/index.ts";
import {
  isCommittedBy,
  isSigned,
  type ParsedCommit,
  type Person,
  parseCommit,
  rewriteCommit,
  valuesOf,
  withSignature,
} from "./commit-object.ts";

export interface SigningOptions {
  /** The committer of agents' commits, and their author if no user is named. */
  platform: Person;
  author: Person;
  /** Returns the armoured signature of the unsigned commit. */
  sign(text: Buffer): string;
}

/** Returns the object name of the new commit. */
export async function writeSigned(
  { location, text, signing }: { location: GitLocation; text: string; signing: SigningOptions },
  signal: AbortSignal,
): Promise<string> {
  const [, tree = ""] = /^tree ([0-9a-f]+)\n/.exec(text) ?? [];
  const signature = signing.sign(Buffer.from(text, "latin1"));
  const input = Buffer.from(withSignature(text, signature, formatOf(tree)), "latin1");
  return (await runGit({ location, args: ["hash-object", "-t", "commit", "-w", "--stdin"], input }, signal)).trim();
}

export interface CommitRange {
  location: GitLocation;
  head: string;
  /** Commits reachable from these are not changed. */
  exclude: string[];
  signing: SigningOptions;
}

/** Signs the agent's commits up to the head and returns the new head. Commits by others are only rewritten if a parent changed. */
export async function signCommits(
  { location, head, exclude, signing }: CommitRange,
  signal: AbortSignal,
): Promise<string> {
  const rewritten = new Map<string, string>();
  for (const [name, commit] of await readCommits({ location, head, exclude }, signal)) {
    const hasRewrittenParent = valuesOf(commit, "parent").some((parent) => rewritten.has(parent));
    const isOurs = isCommittedBy(commit, signing.platform) && !isSigned(commit);
    if (!hasRewrittenParent && !isOurs) continue;
    // Replaces any author the agent wrote: it works for one user and must not use another name.
    const text = rewriteCommit(commit, { parents: rewritten, author: isOurs ? signing.author : null });
    rewritten.set(name, await writeSigned({ location, text, signing }, signal));
  }
  return rewritten.get(head) ?? head;
}

/** Parents come before their children. */
async function readCommits(
  { location, head, exclude }: Omit<CommitRange, "signing">,
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

// Signs commits: a new one, and those that the agent made itself, which could not sign them. Called again, the same come out.
import { askGit, formatOf, GitFailed, type GitPlace, runGit } from "../git/index.ts";
import {
  isCommittedBy,
  isSigned,
  type ParsedCommit,
  type Person,
  parseCommit,
  remakeCommit,
  valuesOf,
  withSignature,
} from "./commit-object.ts";

export interface Signing {
  /** Whom commits of agents name as committer, and as author where nobody else is. */
  platform: Person;
  author: Person;
  /** Armoured, of the commit without it. */
  sign(text: Buffer): string;
}

/** The name of the commit that was written. */
export async function writeSigned(
  { place, text, signing }: { place: GitPlace; text: string; signing: Signing },
  signal: AbortSignal,
): Promise<string> {
  const [, tree = ""] = /^tree ([0-9a-f]+)\n/.exec(text) ?? [];
  const signature = signing.sign(Buffer.from(text, "latin1"));
  const input = Buffer.from(withSignature(text, signature, formatOf(tree)), "latin1");
  return (await runGit({ place, args: ["hash-object", "-t", "commit", "-w", "--stdin"], input }, signal)).trim();
}

export interface Lineage {
  place: GitPlace;
  head: string;
  /** Whatever these lead to stays as it is. */
  known: string[];
  signing: Signing;
}

/** The head with everything below it signed that the platform's agent committed. What others committed stays as it is. */
export async function signLineage({ place, head, known, signing }: Lineage, signal: AbortSignal): Promise<string> {
  const renamed = new Map<string, string>();
  for (const [name, commit] of await readLineage({ place, head, known }, signal)) {
    const isOnRenamed = valuesOf(commit, "parent").some((parent) => renamed.has(parent));
    const isOurs = isCommittedBy(commit, signing.platform) && !isSigned(commit);
    if (!isOnRenamed && !isOurs) continue;
    // Whomever the agent wrote there: it works for one person, and in nobody else's name.
    const text = remakeCommit(commit, { parents: renamed, author: isOurs ? signing.author : null });
    renamed.set(name, await writeSigned({ place, text, signing }, signal));
  }
  return renamed.get(head) ?? head;
}

/** Parents before their children. */
async function readLineage(
  { place, head, known }: Omit<Lineage, "signing">,
  signal: AbortSignal,
): Promise<[string, ParsedCommit][]> {
  const args = ["rev-list", "--topo-order", "--reverse", head, ...known.map((name) => `^${name}`)];
  const names = await runGit({ place, args }, signal);
  if (names === "") return [];
  const { code, out, said } = await askGit({ place, args: ["cat-file", "--batch"], input: names }, signal);
  if (code !== 0) throw new GitFailed("cat-file", said);
  return [...readBatch(out.toString("latin1"))];
}

/** A line with name, kind and size before each, a newline after it. */
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

// Writes signed commits.
import { type Person, withSignature } from "./commit-object.ts";
import type { GitLocation } from "./environment.ts";
import { formatOf } from "./layout.ts";
import { runGit } from "./run.ts";

/** The platform as the committer of commits. */
export interface CommitSigner {
  platform: Person;
  /** Returns the armoured signature of the unsigned commit. */
  sign(text: Buffer): string;
}

/** `text` is the unsigned commit, as commitText and rewriteCommit return it. Returns the object name. */
export async function writeSigned(
  { location, text, signer }: { location: GitLocation; text: string; signer: Pick<CommitSigner, "sign"> },
  signal?: AbortSignal,
): Promise<string> {
  const [, tree = ""] = /^tree ([0-9a-f]+)\n/.exec(text) ?? [];
  const signature = signer.sign(Buffer.from(text, "latin1"));
  const input = Buffer.from(withSignature(text, signature, formatOf(tree)), "latin1");
  return (await runGit({ location, args: ["hash-object", "-t", "commit", "-w", "--stdin"], input }, signal)).trim();
}

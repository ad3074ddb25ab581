// The commits that the branches of a hosted repository point to.
import { runGit } from "../git/index.ts";

/** By branch. */
export async function readTips({ directory }: { directory: string }): Promise<Record<string, string>> {
  const args = ["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads"];
  const lines = (await runGit({ location: { directory }, args })).split("\n").filter(Boolean);
  return Object.fromEntries(
    lines.map((line) => [line.slice(line.indexOf(" ") + 1 + "refs/heads/".length), line.slice(0, line.indexOf(" "))]),
  );
}

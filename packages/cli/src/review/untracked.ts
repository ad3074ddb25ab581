// Untracked files in a copy of the index.
import type { Git } from "./git.ts";

/** In one pass: `git add` compares every file with every name that it is given. */
export async function addUntracked(git: Git, indexFile: string): Promise<void> {
  const untracked = await untrackedFiles(git);
  if (untracked.length === 0) return;
  // The empty blob stands for the content: a diff reads the file itself, because nothing else about it is recorded.
  const entry = Buffer.from(`100644 ${(await git(["hash-object", "--stdin"])).toString().trim()}\t`);
  const input = Buffer.concat(untracked.flatMap((name) => [entry, name]));
  await git(["update-index", "-z", "--index-info"], { input, indexFile });
}

/** Names as bytes, each with a zero behind it. Other repositories within (their names end with a slash) are not part of this one. */
async function untrackedFiles(git: Git): Promise<Buffer[]> {
  const listed = await git(["ls-files", "--others", "--exclude-standard", "-z"]);
  const names: Buffer[] = [];
  for (let start = 0, end = listed.indexOf(0); end !== -1; start = end + 1, end = listed.indexOf(0, start)) {
    if (listed[end - 1] !== slash) names.push(listed.subarray(start, end + 1));
  }
  return names;
}

const slash = 0x2f;

// The commits that the branches of a hosted repository point to.
import { listReferences } from "../git/index.ts";

const heads = "refs/heads";

/** By branch. */
export async function readTips({ directory }: { directory: string }): Promise<Record<string, string>> {
  const references = await listReferences(directory, [heads]);
  return Object.fromEntries([...references].map(([name, commit]) => [name.slice(heads.length + 1), commit]));
}

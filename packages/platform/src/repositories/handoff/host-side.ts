// The host's git directory for an agent's repository: its object directories, and what git may access.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { GitLocation } from "../git/index.ts";
import type { OpenRepository } from "../workspaces/index.ts";

/** The agent's files as a work tree. Processes of the agent may still change them. */
export async function workTreeLocation({
  path,
  hostDirectory,
}: OpenRepository): Promise<GitLocation & { directory: string }> {
  const fence = { reads: [path, ...(await borrowedBy(hostDirectory))], writes: [hostDirectory] };
  return { directory: hostDirectory, workTree: path, fence };
}

/** To read its index and objects, which no agent can write: without a fence git starts in half the time. */
export const withoutWorkTree = ({ directory, indexFile }: GitLocation): GitLocation => ({
  directory,
  ...(indexFile !== undefined && { indexFile }),
});

/** Additional object directories it reads from (alternates). */
export async function borrowedBy(hostDirectory: string): Promise<string[]> {
  const text = await readFile(join(hostDirectory, "objects/info/alternates"), "utf8");
  return text.split("\n").filter(Boolean);
}

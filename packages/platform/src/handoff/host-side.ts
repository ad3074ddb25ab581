// What the host keeps of an agent's repository: where its objects are, and how far git may look from there.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { GitPlace } from "../git/index.ts";
import type { OpenRepository } from "../workspaces/index.ts";

/** The agent's files as a work tree. Whatever it still runs may change them meanwhile. */
export async function workPlace({ path, hostDirectory }: OpenRepository): Promise<GitPlace & { directory: string }> {
  const fence = { reads: [path, ...(await borrowedBy(hostDirectory))], writes: [hostDirectory] };
  return { directory: hostDirectory, workTree: path, fence };
}

/** Directories of objects that it reads beside its own. */
export async function borrowedBy(hostDirectory: string): Promise<string[]> {
  const text = await readFile(join(hostDirectory, "objects/info/alternates"), "utf8");
  return text.split("\n").filter(Boolean);
}

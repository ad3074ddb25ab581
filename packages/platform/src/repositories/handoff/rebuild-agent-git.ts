// Rebuilds a damaged git directory in an agent's workspace. The agent's own files stay.
import { randomUUID } from "node:crypto";
import { copyFile, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { listStale, randomId, removeTree } from "../../foundation/index.ts";
import { copyObjects, formatOf, layOut, type Person } from "../git/index.ts";
import type { OpenRepository } from "../workspaces/index.ts";
import { borrowedBy } from "./host-side.ts";

export interface RebuildOptions {
  repository: OpenRepository;
  commit: string;
  index: string;
  /** Author and committer of the agent's commits. */
  identity: Person;
}

export async function rebuildAgentGit({ repository, commit, index, identity }: RebuildOptions): Promise<void> {
  const { path, hostDirectory, branch, baseBranch, baseCommit, url } = repository;
  const draft = join(path, `.git-${randomUUID()}`);
  const config = await readFile(join(hostDirectory, "config"), "utf8");
  try {
    await layOut(draft, {
      objectFormat: formatOf(commit),
      isPartial: /partialClone/i.test(config),
      head: branch,
      references: new Map([
        [`refs/heads/${branch}`, commit],
        [`refs/remotes/origin/${baseBranch}`, baseCommit],
      ]),
      config: [
        ['remote "origin"', { url, fetch: "+refs/heads/*:refs/remotes/origin/*" }],
        ["user", { name: identity.name, email: identity.email }],
      ],
      borrowed: [],
    });
    for (const objects of [...(await borrowedBy(hostDirectory)), join(hostDirectory, "objects")])
      await copyObjects(objects, join(draft, "objects"));
    await copyFile(index, join(draft, "index"));
    await removeTree(join(path, ".git"));
    await rename(draft, join(path, ".git"));
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Left by a server that was killed while it rebuilt one: they must not be committed as files of the agent. */
export async function removeUnfinished({ path }: OpenRepository): Promise<void> {
  const unfinished = { directory: path, prefix: ".git-", suffix: randomId, before: Number.POSITIVE_INFINITY };
  for (const directory of await listStale(unfinished)) await removeTree(directory);
}

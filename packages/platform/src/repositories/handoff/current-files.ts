// The current files of an agent, committed or not, as a tree in the host's git directory or in a scratch directory.
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { type GitLocation, RepositoryFault, runGit } from "../git/index.ts";
import type { OpenRepository } from "../workspaces/index.ts";
import { addFiles } from "./add-files.ts";
import { withoutWorkTree, workTreeLocation } from "./host-side.ts";
import { treeOf } from "./trees.ts";
import type { IndexedWorkTree } from "./work-tree-files.ts";

export interface FilesToRead {
  repository: OpenRepository;
  /** A commit that has most of the files. */
  last: string;
}

/** The tree stays. Throws RepositoryFault. */
export const writeFilesAsTree = ({ repository, last }: FilesToRead, signal: AbortSignal): Promise<string> =>
  withScratch(repository, async (scratch) => {
    const location = { ...(await workTreeLocation(repository)), indexFile: join(scratch, "index") };
    return writeTree(location, last, signal);
  });

/** Passes on a location that has the tree; it is removed afterwards. Throws RepositoryFault. */
export const withFilesAsTree = <T>(
  { repository, last }: FilesToRead,
  signal: AbortSignal,
  use: (location: GitLocation, tree: string) => Promise<T>,
): Promise<T> =>
  withScratch(repository, async (scratch) => {
    const { hostDirectory } = repository;
    const objects = join(scratch, "objects");
    await mkdir(objects);
    const location: IndexedWorkTree = {
      ...(await workTreeLocation(repository)),
      indexFile: join(scratch, "index"),
      objects,
      borrowed: [join(hostDirectory, "objects")],
    };
    return use(location, await writeTree(location, last, signal));
  });

async function writeTree(location: IndexedWorkTree, last: string, signal: AbortSignal): Promise<string> {
  await runGit({ location, args: ["read-tree", "-m", "-i", last] }, signal);
  const { tree } = await addFiles(location, signal);
  return tree ?? treeOf(withoutWorkTree(location), last, signal);
}

const maxAttempts = 3;

/** A file may be deleted or replaced between two accesses: tries again, with another directory. */
async function withScratch<T>({ hostDirectory }: OpenRepository, work: (scratch: string) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const scratch = await mkdtemp(join(hostDirectory, "diff-"));
    try {
      return await work(scratch);
    } catch (error) {
      if (!(error instanceof RepositoryFault) || attempt === maxAttempts) throw error;
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }
}

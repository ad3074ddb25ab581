// Reads files of a commit without checking it out, and checks it out into any directory.
import { mkdir } from "node:fs/promises";
import { askGit, runGit } from "../git/index.ts";
import { checkOut, prepareCommit } from "./checkout.ts";
import type { Source } from "./mirror.ts";
import { openSource, type SourceOptions } from "./source.ts";
import { chooseStart, type StartingPoint } from "./starting-point.ts";
import type { OpenRepository } from "./workspaces.ts";

export interface CommitReader {
  /** At the tip of the default branch. Throws RepositoryFault. */
  openDefaultBranch(repository: { teamId: number; url: string }, signal: AbortSignal): Promise<CommitFiles>;
}

export interface CommitFiles {
  commit: string;
  list(signal: AbortSignal): Promise<CommitFile[]>;
  /** Null where there is no such file, or a larger one. */
  read(path: string, signal: AbortSignal): Promise<string | null>;
  /** Into a new directory, as a repository. */
  checkOut(directory: string, signal: AbortSignal): Promise<void>;
}

export interface CommitFile {
  path: string;
  /** Name of the object: the same for the same content. */
  object: string;
}

export interface CommitReaderOptions extends SourceOptions {
  identity: { name: string; email: string };
}

export const openCommitReader = (options: CommitReaderOptions): CommitReader => ({
  async openDefaultBranch({ teamId, url }, signal) {
    const source = await openSource({ teamId, url }, options, signal);
    const request = { repository: { url }, workOnCurrentBranch: false, newBranch: "build", pullRequest: undefined };
    const start = chooseStart(request, source.advertisement);
    return commitFiles({ source, start, url, options });
  },
});

interface CommitLocation {
  source: Source;
  start: StartingPoint;
  url: string;
  options: CommitReaderOptions;
}

function commitFiles({ source, start, url, options }: CommitLocation): CommitFiles {
  const { commit } = start;
  const { directory } = source;
  const list = (signal: AbortSignal) => listFiles({ directory, commit }, signal);
  return {
    commit,
    list,
    async read(path, signal) {
      const object = (await list(signal)).find((file) => file.path === path)?.object;
      if (object === undefined) return null;
      if (source.isPartial) await source.fetch([object], signal);
      return readBlob(directory, object, signal);
    },
    async checkOut(path, signal) {
      const { limits, identity } = options;
      await mkdir(path, { recursive: true });
      const prepared = { ...start, commit: (await prepareCommit({ commit, source, limits }, signal)).commit };
      await checkOut({ path, source, start: prepared, url, limits, identity }, signal);
    },
  };
}

async function listFiles(
  { directory, commit }: { directory: string; commit: string },
  signal: AbortSignal,
): Promise<CommitFile[]> {
  const args = ["ls-tree", "-r", "-z", "--full-tree", commit];
  const text = await runGit({ location: { directory }, args }, signal);
  return text.split("\0").flatMap((line) => {
    const [, object, path] = /^\d+ blob (\S+)\t([\s\S]*)$/.exec(line) ?? [];
    return object !== undefined && path !== undefined ? [{ object, path }] : [];
  });
}

/** The files of the commit that an agent started from. */
export const listStartingFiles = (
  { hostDirectory, baseCommit }: Pick<OpenRepository, "hostDirectory" | "baseCommit">,
  signal: AbortSignal,
): Promise<CommitFile[]> => listFiles({ directory: hostDirectory, commit: baseCommit }, signal);

/** A file of the commit that an agent started from; nothing that the agent changed counts. */
export const readStartingFile = (
  { hostDirectory, baseCommit }: Pick<OpenRepository, "hostDirectory" | "baseCommit">,
  path: string,
  signal: AbortSignal,
): Promise<string | null> => readBlob(hostDirectory, `${baseCommit}:${path}`, signal);

/** By commit and path: most agents start from one of few commits, and what a commit has never changes. */
const startingFiles = new Map<string, boolean>();
const maxStartingFiles = 1_000;

export async function hasStartingFile(
  { hostDirectory, baseCommit }: Pick<OpenRepository, "hostDirectory" | "baseCommit">,
  path: string,
  signal: AbortSignal,
): Promise<boolean> {
  const key = `${baseCommit}:${path}`;
  const known = startingFiles.get(key);
  if (known !== undefined) return known;
  const args = ["ls-tree", "-z", "--full-tree", baseCommit, "--", path];
  const text = await runGit({ location: { directory: hostDirectory }, args }, signal);
  const isThere = /^\d+ blob /.test(text);
  const [oldest] = startingFiles.keys();
  if (startingFiles.size >= maxStartingFiles && oldest !== undefined) startingFiles.delete(oldest);
  startingFiles.set(key, isThere);
  return isThere;
}

/** Far more than any file that people write for the platform. */
const maxBytes = 1024 * 1024;

async function readBlob(directory: string, name: string, signal: AbortSignal): Promise<string | null> {
  const measured = await askGit({ location: { directory }, args: ["cat-file", "-s", name] }, signal);
  if (measured.code !== 0 || Number(measured.out.toString()) > maxBytes) return null;
  const { code, out } = await askGit({ location: { directory }, args: ["cat-file", "blob", name] }, signal);
  return code === 0 ? out.toString("utf8") : null;
}

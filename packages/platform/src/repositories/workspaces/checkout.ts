// Checks out a commit for an agent: its files and a git directory that shares nothing with other copies.
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import {
  askGit,
  copyIndex,
  copyObjects,
  formatOf,
  GitFailed,
  type GitLocation,
  layOut,
  noteCommitOfIndex,
  RepositoryFault,
  runGit,
  startGit,
} from "../git/index.ts";
import { openKeptCheckouts } from "./kept-checkouts.ts";
import type { RepositoryLimits } from "./limits.ts";
import type { Source } from "./mirror.ts";
import type { StartingPoint } from "./starting-point.ts";

export interface Checkout {
  /** A new, empty directory. */
  path: string;
  source: Source;
  start: StartingPoint;
  url: string;
  limits: RepositoryLimits;
  /** Author and committer of the agent's commits. */
  identity: { name: string; email: string };
}

export async function checkOut(checkout: Checkout, signal: AbortSignal): Promise<void> {
  const { path, source, start, url, identity } = checkout;
  const directory = join(path, ".git");
  await layOut(directory, {
    objectFormat: formatOf(start.commit),
    isPartial: source.isPartial,
    head: start.branch,
    references: initialReferences(checkout),
    config: [
      ['remote "origin"', { url, fetch: "+refs/heads/*:refs/remotes/origin/*" }],
      ["user", { name: identity.name, email: identity.email }],
    ],
    borrowed: [],
  });
  await copyObjects(join(source.directory, "objects"), join(directory, "objects"));
  const key = JSON.stringify([source.directory, start.commit]);
  if (keptCheckouts.write(key, path)) return;
  await runGit({ location: { directory, workTree: path }, args: ["read-tree", "-u", "--reset", start.commit] }, signal);
  keptCheckouts.keep(key, path);
}

const keptCheckouts = openKeptCheckouts(32 * 1024 * 1024);

/** Same as after a clone: remote-tracking branches of `origin`, tags, and the agent's new branch. */
function initialReferences({ source: { advertisement }, start }: Checkout): Map<string, string> {
  const references = new Map([[`refs/heads/${start.branch}`, start.commit]]);
  for (const [name, object] of advertisement.references) {
    if (name.startsWith("refs/heads/")) references.set(name.replace("refs/heads/", "refs/remotes/origin/"), object);
    if (name.startsWith("refs/tags/") && !name.endsWith("^{}")) references.set(name, object);
  }
  return references;
}

export interface PreparedCommit {
  /** Its full name. */
  commit: string;
  /** Name of its top directory. */
  tree: string;
}

/** By source and full name. Most agents start from one of few commits, and what a commit has never changes. */
const preparedCommits = new Map<string, PreparedCommit>();
const maxPrepared = 1_000;

/**
 * Resolves the commit to its full object name, fetches its missing files and enforces the checkout limits: a small pack
 * can expand to more data than the disk can hold.
 */
export async function prepareCommit(
  { commit, source, limits }: { commit: string; source: Source; limits: RepositoryLimits },
  signal: AbortSignal,
): Promise<PreparedCommit> {
  const key = JSON.stringify([source.directory, commit, limits.checkoutFiles, limits.checkoutBytes]);
  // A source that was made again may lack a commit that it does not advertise.
  const isAdvertised = !source.isPartial && [...source.advertisement.references.values()].includes(commit);
  const known = isAdvertised ? preparedCommits.get(key) : undefined;
  if (known !== undefined) return known;
  const found = await findCommit(commit, source, signal);
  const location = { directory: source.directory };
  if (source.isPartial) {
    await measure(location, { args: ["ls-tree", "-r", "-t", found.commit], limits }, signal);
    await fetchContents(found.commit, source, signal);
  }
  await measure(location, { args: ["ls-tree", "-r", "-t", "--long", found.commit], limits }, signal);
  if (isAdvertised) keepPrepared(key, found);
  return found;
}

function keepPrepared(key: string, found: PreparedCommit): void {
  const [oldest] = preparedCommits.keys();
  if (preparedCommits.size >= maxPrepared && oldest !== undefined) preparedCommits.delete(oldest);
  preparedCommits.set(key, found);
}

async function findCommit(commit: string, source: Source, signal: AbortSignal): Promise<PreparedCommit> {
  const resolveCommit = async (): Promise<PreparedCommit | undefined> => {
    const input = `${commit}^{commit}\n${commit}^{tree}\n`;
    const args = ["cat-file", "--batch-check=%(objectname) %(objecttype)"];
    const { out } = await askGit({ location: { directory: source.directory }, args, input }, signal);
    const [, name, tree] = /^(\S+) commit\n(\S+) tree\n$/.exec(out.toString()) ?? [];
    return name !== undefined && tree !== undefined ? { commit: name, tree } : undefined;
  };
  const existing = await resolveCommit();
  if (existing !== undefined) return existing;
  const isFullName = commit.length === 40 || commit.length === 64;
  const fetched = isFullName && (await source.fetch([commit], signal)) ? await resolveCommit() : undefined;
  if (fetched === undefined)
    throw new RepositoryFault("ref_not_found", `The repository has no commit "${commit}". Check startingRef.`);
  return fetched;
}

async function fetchContents(commit: string, source: Source, signal: AbortSignal): Promise<void> {
  const args = ["rev-list", "--objects", "--missing=print", "--no-walk", commit];
  const lines = (await runGit({ location: { directory: source.directory }, args }, signal)).split("\n");
  const missing = lines.flatMap((line) => (line.startsWith("?") ? line.slice(1) : []));
  if (missing.length > 0 && !(await source.fetch(missing, signal)))
    throw new RepositoryFault("repository_unreachable", "The repository did not send the files of its own commit.");
}

interface Measurement {
  args: string[];
  limits: RepositoryLimits;
}

async function measure(location: GitLocation, { args, limits }: Measurement, signal: AbortSignal): Promise<void> {
  const git = startGit({ location, args });
  git.stdin.end();
  const ended = git.ended({ args }, signal);
  let files = 0;
  let bytes = 0;
  for await (const line of createInterface({ input: git.stdout })) {
    files += 1;
    bytes += Number(/^\d+ blob \S+ +(\d+)\t/.exec(line)?.[1] ?? 0);
    if (files > limits.checkoutFiles || bytes > limits.checkoutBytes) git.destroy(tooLarge(limits));
  }
  const { code, stderr } = await ended;
  if (code !== 0) throw new GitFailed("ls-tree", stderr);
}

const tooLarge = ({ checkoutFiles, checkoutBytes }: RepositoryLimits) =>
  new RepositoryFault(
    "repository_too_large",
    `One commit of the repository has more than ${checkoutFiles} files or ${Math.round(checkoutBytes / 1024 / 1024)} MiB, the limit of this platform.`,
  );

/** Creates the host's git directory for the repository. It borrows the fetched objects and imports from the agent's copy only after verification. */
export async function keepHostSide(
  directory: string,
  { source, start, facts, index }: { source: Source; start: StartingPoint; facts: string; index: string },
): Promise<void> {
  const draft = `${directory}.draft-${process.pid}`;
  await rm(draft, { recursive: true, force: true });
  await layOut(draft, {
    objectFormat: formatOf(start.commit),
    isPartial: source.isPartial,
    head: start.branch,
    references: new Map([["refs/platform/base", start.commit]]),
    config: [],
    borrowed: [join(source.directory, "objects")],
  });
  await writeFile(join(draft, "platform.json"), facts);
  // The index records file times, so that unchanged files need not be read again.
  await copyIndex(index, join(draft, "index"));
  await noteCommitOfIndex(join(draft, "index"), start.commit);
  await rm(directory, { recursive: true, force: true });
  await rename(draft, directory);
}

export const makeParent = (path: string) => mkdir(path, { recursive: true, mode: 0o700 });

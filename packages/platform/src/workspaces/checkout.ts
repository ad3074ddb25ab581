// The files of a commit, and git's own beside them: an agent's copy that shares nothing with anybody.
import { copyFile, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import {
  copyObjects,
  formatOf,
  GitFailed,
  type GitPlace,
  layOut,
  RepositoryFault,
  runGit,
  startGit,
} from "../git/index.ts";
import type { RepositoryLimits } from "./limits.ts";
import type { Source } from "./mirror.ts";
import type { StartingPoint } from "./starting-point.ts";

export interface Checkout {
  /** A new directory. */
  path: string;
  source: Source;
  start: StartingPoint;
  url: string;
  limits: RepositoryLimits;
  /** Whom commits of the agent name. */
  identity: { name: string; email: string };
}

export async function checkOut(checkout: Checkout, signal: AbortSignal): Promise<void> {
  const { path, source, start, url, identity } = checkout;
  const directory = join(path, ".git");
  await layOut(directory, {
    objectFormat: formatOf(start.commit),
    isPartial: source.isPartial,
    head: start.branch,
    references: ownReferences(checkout),
    config: [
      ['remote "origin"', { url, fetch: "+refs/heads/*:refs/remotes/origin/*" }],
      ["user", { name: identity.name, email: identity.email }],
    ],
    borrowed: [],
  });
  await copyObjects(join(source.directory, "objects"), join(directory, "objects"));
  await runGit({ place: { directory, workTree: path }, args: ["read-tree", "-u", "--reset", start.commit] }, signal);
}

/** As after a clone: branches of the repository are those of `origin`, and the agent's own is new. */
function ownReferences({ source: { advertisement }, start }: Checkout): Map<string, string> {
  const references = new Map([[`refs/heads/${start.branch}`, start.commit]]);
  for (const [name, object] of advertisement.references) {
    if (name.startsWith("refs/heads/")) references.set(name.replace("refs/heads/", "refs/remotes/origin/"), object);
    if (name.startsWith("refs/tags/") && !name.endsWith("^{}")) references.set(name, object);
  }
  return references;
}

/**
 * The commit as a whole object name, with all contents of its files there and not too many of them: a small pack can
 * unfold to more than any disk holds.
 */
export async function prepareCommit(
  { commit, source, limits }: { commit: string; source: Source; limits: RepositoryLimits },
  signal: AbortSignal,
): Promise<string> {
  const whole = await findCommit(commit, source, signal);
  const place = { directory: source.directory };
  await measure(place, { args: ["ls-tree", "-r", "-t", whole], limits }, signal);
  if (source.isPartial) await fetchContents(whole, source, signal);
  await measure(place, { args: ["ls-tree", "-r", "-t", "--long", whole], limits }, signal);
  return whole;
}

async function findCommit(commit: string, source: Source, signal: AbortSignal): Promise<string> {
  const ask = async (): Promise<string | undefined> => {
    try {
      const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${commit}^{commit}`];
      return (await runGit({ place: { directory: source.directory }, args }, signal)).trim();
    } catch (error) {
      if (error instanceof GitFailed) return undefined;
      throw error;
    }
  };
  const known = await ask();
  if (known !== undefined) return known;
  const isWhole = commit.length === 40 || commit.length === 64;
  const fetched = isWhole && (await source.fetch([commit], signal)) ? await ask() : undefined;
  if (fetched === undefined)
    throw new RepositoryFault("ref_not_found", `The repository has no commit "${commit}". Check startingRef.`);
  return fetched;
}

async function fetchContents(commit: string, source: Source, signal: AbortSignal): Promise<void> {
  const args = ["rev-list", "--objects", "--missing=print", "--no-walk", commit];
  const lines = (await runGit({ place: { directory: source.directory }, args }, signal)).split("\n");
  const missing = lines.flatMap((line) => (line.startsWith("?") ? line.slice(1) : []));
  if (missing.length > 0 && !(await source.fetch(missing, signal)))
    throw new RepositoryFault("repository_unreachable", "The repository did not hand out the files of its own commit.");
}

interface Measurement {
  args: string[];
  limits: RepositoryLimits;
}

async function measure(place: GitPlace, { args, limits }: Measurement, signal: AbortSignal): Promise<void> {
  const git = startGit({ place, args });
  git.stdin.end();
  const ended = git.ended({ args }, signal);
  let files = 0;
  let bytes = 0;
  for await (const line of createInterface({ input: git.stdout })) {
    files += 1;
    bytes += Number(/^\d+ blob \S+ +(\d+)\t/.exec(line)?.[1] ?? 0);
    if (files > limits.checkoutFiles || bytes > limits.checkoutBytes) git.destroy(tooMuch(limits));
  }
  const { code, said } = await ended;
  if (code !== 0) throw new GitFailed("ls-tree", said);
}

const tooMuch = ({ checkoutFiles, checkoutBytes }: RepositoryLimits) =>
  new RepositoryFault(
    "repository_too_large",
    `One commit of the repository has more than ${checkoutFiles} files or ${Math.round(checkoutBytes / 1024 / 1024)} MiB, the most that this platform takes.`,
  );

/** What the host keeps to itself: it borrows what was fetched, and takes from the agent's copy only what it has looked at. */
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
  // It knows the times of files, so that what did not change need not be read again.
  await copyFile(index, join(draft, "index"));
  await rm(directory, { recursive: true, force: true });
  await rename(draft, directory);
}

export const makeParent = (path: string) => mkdir(path, { recursive: true, mode: 0o700 });

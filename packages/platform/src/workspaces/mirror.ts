// What was fetched of a repository before, kept so that the next agent waits for the news only. Only the host writes to
// a mirror; its references are written from what the repository offers, as one file, so no lock of git is ever left behind.
import { createHash, randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  formatOf,
  type GitPlace,
  type GitRemote,
  layOut,
  packedReferences,
  RepositoryFault,
  runGit,
} from "../git/index.ts";
import { type Advertisement, readAdvertisement, type SourceHost } from "../scm/index.ts";
import type { RepositoryLimits } from "./limits.ts";
import type { Locks } from "./lock.ts";

/** A git directory of the host that has everything the advertisement names. */
export interface Source {
  directory: string;
  isPartial: boolean;
  advertisement: Advertisement;
  /** Gets what is not among branches and tags; false where the repository does not have it. */
  fetch(objects: string[], signal: AbortSignal): Promise<boolean>;
}

export interface MirrorOptions {
  /** Holds all mirrors. */
  directory: string;
  locks: Locks;
  limits: RepositoryLimits;
}

/** `key` tells repositories apart: teams do not share one, for what one may read another may not. */
export async function openMirror(
  { key, host }: { key: string; host: SourceHost },
  options: MirrorOptions,
  signal: AbortSignal,
): Promise<Source> {
  const name = createHash("sha256").update(key).digest("hex").slice(0, 32);
  const directory = join(options.directory, name);
  const { limits } = options;
  await mkdir(options.directory, { recursive: true, mode: 0o700 });
  const bringUpToDate = async (): Promise<Advertisement> => {
    const advertisement = await readAdvertisement(host, limits.answerMs, signal);
    // Nothing to keep, and no way to tell how its objects will be named.
    if (advertisement.references.size === 0) return advertisement;
    if (!existsSync(directory)) await create({ directory, host, limits, advertisement }, signal);
    else await update({ directory, host, limits, advertisement }, signal);
    return advertisement;
  };
  const advertisement = await options.locks.hold(`mirror:${name}`, bringUpToDate, signal);
  return {
    directory,
    isPartial: existsSync(directory) && isPartial(directory),
    advertisement,
    fetch: (objects, ownSignal) =>
      options.locks.hold(
        `mirror:${name}`,
        () => fetchObjects({ directory, host, limits, objects }, ownSignal),
        ownSignal,
      ),
  };
}

interface Work {
  directory: string;
  host: SourceHost;
  limits: RepositoryLimits;
  advertisement: Advertisement;
}

/** Appears when it is complete. */
async function create(work: Work, signal: AbortSignal): Promise<void> {
  await removeDrafts(work.directory);
  const draft = `${work.directory}.draft-${randomUUID()}`;
  try {
    try {
      await fill({ ...work, directory: draft, mostBytes: work.limits.wholeBytes, isPartial: false }, signal);
    } catch (error) {
      if (!isTooLarge(error) || work.limits.wholeBytes >= work.limits.mostBytes) throw error;
      await rm(draft, { recursive: true, force: true });
      await fill({ ...work, directory: draft, mostBytes: work.limits.mostBytes, isPartial: true }, signal);
    }
    await rename(draft, work.directory);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function fill(work: Work & { mostBytes: number; isPartial: boolean }, signal: AbortSignal): Promise<void> {
  const { directory, advertisement } = work;
  const [objectName = ""] = advertisement.references.values();
  await layOut(directory, {
    objectFormat: formatOf(objectName),
    isPartial: work.isPartial,
    head: advertisement.defaultBranch ?? "main",
    references: new Map(),
    config: [],
    borrowed: [],
  });
  await fetchAdvertised(work, signal);
}

const mostPacks = 30;

async function update(work: Work, signal: AbortSignal): Promise<void> {
  const { directory, advertisement, limits } = work;
  const known = readFileSync(join(directory, "packed-refs"), "utf8");
  if (known === packedReferences(branchesAndTags(advertisement))) return;
  await fetchAdvertised({ ...work, mostBytes: limits.mostBytes, isPartial: isPartial(directory) }, signal);
  const packs = readdirSync(join(directory, "objects/pack")).filter((name) => name.endsWith(".pack"));
  // Objects that no branch leads to any more are kept: an agent may have begun with them.
  if (packs.length > mostPacks)
    await runGit({ place: { directory }, args: ["repack", "-a", "-d", "-k", "-q"], limitMs: limits.fetchMs }, signal);
}

async function fetchAdvertised(
  work: Work & { mostBytes: number; isPartial: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { directory, host, limits, mostBytes } = work;
  const references = branchesAndTags(work.advertisement);
  const objects = [...new Set(references.values())];
  if (objects.length > 0)
    await host.reach((remote) => fetchInto({ directory, remote, objects, mostBytes, limits }, signal), signal);
  const draft = join(directory, `packed-refs.draft-${randomUUID()}`);
  await writeFile(draft, packedReferences(references));
  await rename(draft, join(directory, "packed-refs"));
}

const branchesAndTags = ({ references }: Advertisement): Map<string, string> =>
  new Map([...references].filter(([name]) => /^refs\/(?:heads|tags)\//.test(name) && !name.endsWith("^{}")));

/** Objects that were made to trip somebody up are refused; what old versions of git wrote is not. */
const wary: GitRemote["config"] = [
  ["fetch.fsckObjects", "true"],
  ["fetch.fsck.badTimezone", "ignore"],
  ["fetch.fsck.missingSpaceBeforeDate", "ignore"],
  ["fetch.fsck.zeroPaddedFilemode", "ignore"],
];

interface Fetch {
  directory: string;
  remote: GitRemote;
  objects: string[];
  mostBytes: number;
  limits: RepositoryLimits;
}

async function fetchInto({ directory, remote, objects, mostBytes, limits }: Fetch, signal: AbortSignal): Promise<void> {
  const place: GitPlace = { directory };
  const filter = isPartial(directory) ? ["--filter=blob:none"] : [];
  try {
    await runGit(
      {
        place,
        // Its address is named for this call only: nothing is to be fetched behind our back.
        remote: { ...remote, config: [...remote.config, ...wary, ["remote.origin.url", remote.address]] },
        args: ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", ...filter, "--stdin", "origin"],
        input: objects.map((object) => `${object}\n`).join(""),
        limitMs: limits.fetchMs,
        guard: () => checkSize(directory, mostBytes),
      },
      signal,
    );
  } finally {
    await removeUnfinishedPacks(directory);
  }
}

async function fetchObjects(
  { directory, host, limits, objects }: Omit<Fetch, "remote" | "mostBytes"> & { host: SourceHost },
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const { mostBytes } = limits;
    await host.reach((remote) => fetchInto({ directory, remote, objects, mostBytes, limits }, signal), signal);
    return true;
  } catch (error) {
    if (/not our ref|no such remote ref|not advertised|couldn't find remote ref/i.test((error as Error).message))
      return false;
    throw error;
  }
}

function checkSize(directory: string, mostBytes: number): void {
  const packs = join(directory, "objects/pack");
  const size = readdirSync(packs)
    .map((name) => statSync(join(packs, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, one) => sum + one, 0);
  if (size > mostBytes) throw new RepositoryFault("repository_too_large", tooLarge(mostBytes));
}

const tooLarge = (mostBytes: number) =>
  `The repository is larger than ${Math.round(mostBytes / 1024 / 1024)} MiB, the most that this platform takes.`;

const isTooLarge = (error: unknown) => error instanceof RepositoryFault && error.code === "repository_too_large";

/** Left by a fetch that was ended. One that still goes on, of a server that was killed, fails and harms nothing. */
async function removeUnfinishedPacks(directory: string): Promise<void> {
  const packs = join(directory, "objects/pack");
  for (const name of readdirSync(packs).filter((entry) => entry.startsWith("tmp_")))
    await rm(join(packs, name), { force: true });
}

async function removeDrafts(directory: string): Promise<void> {
  const parent = dirname(directory);
  const drafts = readdirSync(parent).filter((name) => name.startsWith(`${basename(directory)}.draft-`));
  for (const name of drafts) await rm(join(parent, name), { recursive: true, force: true });
}

const isPartial = (directory: string) => /partialClone/i.test(readFileSync(join(directory, "config"), "utf8"));

// A cache of fetched objects per repository, so that the next agent only waits for new objects. Only the host writes to a
// mirror. Its references are written as one file from the advertisement, so that git never leaves a lock file behind.
import { createHash, randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  formatOf,
  GitFailed,
  type GitLocation,
  type GitRemote,
  layOut,
  packedReferences,
  RepositoryFault,
  runGit,
} from "../git/index.ts";
import { type Advertisement, readAdvertisement, type SourceHost } from "../scm/index.ts";
import type { RepositoryLimits } from "./limits.ts";
import type { Locks } from "./lock.ts";

/** A git directory on the host with all objects that the advertisement names. */
export interface Source {
  directory: string;
  isPartial: boolean;
  advertisement: Advertisement;
  /** Fetches objects outside branches and tags; false if the repository does not have them. */
  fetch(objects: string[], signal: AbortSignal): Promise<boolean>;
}

export interface MirrorOptions {
  /** Parent directory of all mirrors. */
  directory: string;
  locks: Locks;
  limits: RepositoryLimits;
}

/** Teams do not share mirrors, because their read access may differ. */
export async function openMirror(
  { teamId, url, host }: { teamId: number; url: string; host: SourceHost },
  options: MirrorOptions,
  signal: AbortSignal,
): Promise<Source> {
  const name = createHash("sha256").update(`${teamId} ${url}`).digest("hex").slice(0, 32);
  const directory = join(options.directory, name);
  const { limits } = options;
  const lock = { name: `mirror:${name}`, teamId };
  await mkdir(options.directory, { recursive: true, mode: 0o700 });
  const bringUpToDate = async (): Promise<Advertisement> => {
    const advertisement = await readAdvertisement(host, limits.answerMs, signal);
    // An empty repository has nothing to mirror, and its object format is unknown.
    if (advertisement.references.size === 0) return advertisement;
    if (!existsSync(directory)) await create({ directory, host, limits, advertisement }, signal);
    else await update({ directory, host, limits, advertisement }, signal);
    // When it was last used: retention removes it a while later.
    await utimes(directory, new Date(), new Date());
    return advertisement;
  };
  const advertisement = await options.locks.hold(lock, bringUpToDate, signal);
  return {
    directory,
    isPartial: existsSync(directory) && isPartial(directory),
    advertisement,
    fetch: (objects, fetchSignal) =>
      options.locks.hold(lock, () => fetchObjects({ directory, host, limits, objects }, fetchSignal), fetchSignal),
  };
}

interface MirrorUpdate {
  directory: string;
  host: SourceHost;
  limits: RepositoryLimits;
  advertisement: Advertisement;
}

/** Builds the mirror in a draft directory and renames it when complete. */
async function create(mirror: MirrorUpdate, signal: AbortSignal): Promise<void> {
  await removeDrafts(mirror.directory);
  const draft = `${mirror.directory}.draft-${randomUUID()}`;
  try {
    try {
      await fill({ ...mirror, directory: draft, maxBytes: mirror.limits.wholeBytes, isPartial: false }, signal);
    } catch (error) {
      if (!isTooLarge(error) || mirror.limits.wholeBytes >= mirror.limits.maxBytes) throw error;
      await rm(draft, { recursive: true, force: true });
      await fill({ ...mirror, directory: draft, maxBytes: mirror.limits.maxBytes, isPartial: true }, signal);
    }
    await rename(draft, mirror.directory);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function fill(
  mirror: MirrorUpdate & { maxBytes: number; isPartial: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { directory, advertisement } = mirror;
  const [objectName = ""] = advertisement.references.values();
  await layOut(directory, {
    objectFormat: formatOf(objectName),
    isPartial: mirror.isPartial,
    head: advertisement.defaultBranch ?? "main",
    references: new Map(),
    config: [],
    borrowed: [],
  });
  await fetchAdvertised(mirror, signal);
}

const maxPacks = 30;

async function update(mirror: MirrorUpdate, signal: AbortSignal): Promise<void> {
  const { directory, advertisement, limits } = mirror;
  const existing = readFileSync(join(directory, "packed-refs"), "utf8");
  if (existing === packedReferences(branchesAndTags(advertisement))) return;
  await fetchAdvertised({ ...mirror, maxBytes: limits.maxBytes, isPartial: isPartial(directory) }, signal);
  const packs = readdirSync(join(directory, "objects/pack")).filter((name) => name.endsWith(".pack"));
  // Keeps unreachable objects: an agent may have started from them.
  if (packs.length > maxPacks)
    await runGit(
      { location: { directory }, args: ["repack", "-a", "-d", "-k", "-q"], limitMs: limits.fetchMs },
      signal,
    );
}

async function fetchAdvertised(
  mirror: MirrorUpdate & { maxBytes: number; isPartial: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { directory, host, limits, maxBytes } = mirror;
  const references = branchesAndTags(mirror.advertisement);
  const objects = [...new Set(references.values())];
  if (objects.length > 0)
    await host.reach((remote) => fetchInto({ directory, remote, objects, maxBytes, limits }, signal), signal);
  const draft = join(directory, `packed-refs.draft-${randomUUID()}`);
  await writeFile(draft, packedReferences(references));
  await rename(draft, join(directory, "packed-refs"));
}

const branchesAndTags = ({ references }: Advertisement): Map<string, string> =>
  new Map([...references].filter(([name]) => /^refs\/(?:heads|tags)\//.test(name) && !name.endsWith("^{}")));

/** Rejects malformed objects, except for defects that old versions of git produced. */
const fsckConfig: GitRemote["config"] = [
  ["fetch.fsckObjects", "true"],
  ["fetch.fsck.badTimezone", "ignore"],
  ["fetch.fsck.missingSpaceBeforeDate", "ignore"],
  ["fetch.fsck.zeroPaddedFilemode", "ignore"],
];

interface Fetch {
  directory: string;
  remote: GitRemote;
  objects: string[];
  maxBytes: number;
  limits: RepositoryLimits;
}

async function fetchInto({ directory, remote, objects, maxBytes, limits }: Fetch, signal: AbortSignal): Promise<void> {
  const location: GitLocation = { directory };
  const filter = isPartial(directory) ? ["--filter=blob:none"] : [];
  try {
    await runGit(
      {
        location,
        // The address is set for this call only, so that git cannot fetch lazily later.
        remote: { ...remote, config: [...remote.config, ...fsckConfig, ["remote.origin.url", remote.address]] },
        args: ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", ...filter, "--stdin", "origin"],
        input: objects.map((object) => `${object}\n`).join(""),
        limitMs: limits.fetchMs,
        guard: () => checkSize(directory, maxBytes),
      },
      signal,
    );
  } finally {
    await removeUnfinishedPacks(directory);
  }
}

async function fetchObjects(
  { directory, host, limits, objects }: Omit<Fetch, "remote" | "maxBytes"> & { host: SourceHost },
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const maxBytes = limits.maxBytes;
    await host.reach((remote) => fetchInto({ directory, remote, objects, maxBytes, limits }, signal), signal);
    return true;
  } catch (error) {
    const { cause } = error as Error;
    if (cause instanceof GitFailed && isUnknownObject.test(cause.stderr)) return false;
    throw error;
  }
}

const isUnknownObject = /not our ref|no such remote ref|not advertised|couldn't find remote ref/i;

function checkSize(directory: string, maxBytes: number): void {
  const packs = join(directory, "objects/pack");
  const size = readdirSync(packs)
    .map((name) => statSync(join(packs, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, bytes) => sum + bytes, 0);
  if (size > maxBytes) throw new RepositoryFault("repository_too_large", tooLarge(maxBytes));
}

const tooLarge = (maxBytes: number) =>
  `The repository is larger than ${Math.round(maxBytes / 1024 / 1024)} MiB, the limit of this platform.`;

const isTooLarge = (error: unknown) => error instanceof RepositoryFault && error.code === "repository_too_large";

/** Temporary packs of an aborted fetch. A fetch that outlived a killed server then fails without harm. */
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

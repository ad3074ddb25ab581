// Removes what agents no longer use of the repositories on disk: mirrors, and what killed servers left unfinished.
import { randomUUID } from "node:crypto";
import { readFile, rename } from "node:fs/promises";
import { basename, join } from "node:path";
import { listNames, listStale, type RetentionRule, removeTree } from "../../foundation/index.ts";
import type { Locks } from "./lock.ts";

export interface FileRetention {
  dataDirectory: string;
  locks: Locks;
  mirrorDays: number;
  draftHours: number;
  now(): number;
}

/** What was taken away from its place is removed at once; it is left only by a killed server. */
export const removedMark = ".removed-";

const hour = 3_600_000;
const lockTimeoutMs = 5_000;

/** A mirror stays while the host's side of a workspace reads objects from it. */
export const mirrorRetention = ({ dataDirectory, locks, mirrorDays, now }: FileRetention): RetentionRule => ({
  name: "mirrors",
  in: "data directory",
  async *remove() {
    const query = { directory: join(dataDirectory, "mirrors"), suffix: /^[0-9a-f]{32}$/ };
    const before = now() - mirrorDays * 24 * hour;
    const unused = await listStale({ ...query, before });
    if (unused.length === 0) return;
    const needed = await neededMirrors(join(dataDirectory, "handoffs"));
    for (const mirror of unused.filter((path) => !needed.has(basename(path)))) {
      const aside = `${mirror}${removedMark}${randomUUID()}`;
      // An agent that has used it since the listing has changed its time, under this lock.
      const takeAway = async () => {
        const isUnused = (await listStale({ ...query, before })).includes(mirror);
        if (isUnused) await rename(mirror, aside);
        return isUnused;
      };
      if (!(await locked(locks, basename(mirror), takeAway))) continue;
      await removeTree(aside);
      yield 1;
    }
  },
});

/** False if an agent holds the lock for long: it uses the mirror. */
async function locked(locks: Locks, name: string, work: () => Promise<boolean>): Promise<boolean> {
  const signal = AbortSignal.timeout(lockTimeoutMs);
  try {
    return await locks.hold({ name: `mirror:${name}` }, work, signal);
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

/** By name: a restored platform may have another data directory. */
async function neededMirrors(handoffs: string): Promise<Set<string>> {
  const needed = new Set<string>();
  for (const agent of await listNames(handoffs))
    for (const repository of await listNames(join(handoffs, agent))) {
      const file = join(handoffs, agent, repository, "objects/info/alternates");
      for (const path of (await readIfPresent(file)).split("\n")) needed.add(basename(join(path, "..")));
    }
  return needed;
}

/** Any other failure is one: a file that cannot be read may name a mirror that is needed. */
async function readIfPresent(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return "";
    throw error;
  }
}

/** Directories that are searched between two pauses. */
const batchSize = 50;

export const unfinishedRetention = (options: FileRetention): RetentionRule => ({
  name: "unfinished workspaces",
  in: "data directory",
  async *remove() {
    const before = options.now() - options.draftHours * hour;
    let searched = 0;
    let removed = 0;
    for await (const { age, ...query } of unfinishedIn(options.dataDirectory)) {
      const stale = await listStale({ ...query, before: age === "any" ? Number.POSITIVE_INFINITY : before });
      for (const path of stale) await removeTree(path);
      removed += stale.length;
      searched += 1;
      if (searched % batchSize > 0) continue;
      yield removed;
      removed = 0;
    }
    if (removed > 0) yield removed;
  },
});

interface UnfinishedQuery {
  directory: string;
  suffix: RegExp;
  age: "any" | "draft";
}

const setAside = new RegExp(`${removedMark.replace(".", "\\.")}[0-9a-f-]{36}$`);
const ownDraft = /^\.draft-[0-9a-f-]{36}$/;
const hostDraft = /\.git\.draft-\d+$/;
const mirrorDraft = /^(?:[0-9a-f]{32}|packed-refs)\.draft-[0-9a-f-]{36}$/;
const gitDraft = /^(?:diff-\w{6}|index-[0-9a-f-]{36}(?:\.lock)?|import\.index(?:\.lock)?)$/;

async function* unfinishedIn(dataDirectory: string): AsyncGenerator<UnfinishedQuery> {
  const workspaces = join(dataDirectory, "workspaces");
  const handoffs = join(dataDirectory, "handoffs");
  const mirrors = join(dataDirectory, "mirrors");
  for (const directory of [workspaces, handoffs, mirrors]) yield { directory, suffix: setAside, age: "any" };
  for (const directory of [workspaces, handoffs, ...(await listPaths(workspaces))])
    yield { directory, suffix: ownDraft, age: "draft" };
  for (const directory of await listPaths(handoffs)) yield { directory, suffix: hostDraft, age: "draft" };
  for (const directory of [mirrors, ...(await listPaths(mirrors))])
    yield { directory, suffix: mirrorDraft, age: "draft" };
  for await (const directory of gitDirectories(dataDirectory)) {
    yield { directory, suffix: gitDraft, age: "draft" };
    yield { directory: join(directory, "objects"), suffix: /^(?:incoming|tmp_objdir)-/, age: "draft" };
    yield { directory: join(directory, "objects/pack"), suffix: /^tmp_/, age: "draft" };
  }
}

const listPaths = async (directory: string): Promise<string[]> =>
  (await listNames(directory)).map((name) => join(directory, name));

/** Those that only the host writes to. */
async function* gitDirectories(dataDirectory: string): AsyncGenerator<string> {
  for (const parent of ["repositories", "mirrors"]) yield* await listPaths(join(dataDirectory, parent));
  for (const agent of await listPaths(join(dataDirectory, "handoffs"))) yield* await listPaths(agent);
}

// Searches also directories that a run has made unreadable: their owner makes them readable again and enters them.
import { chmodSync, closeSync, constants, lstatSync, openSync } from "node:fs";
import { type DirectoryPath, type RepositorySearch, type SearchOptions, searchRepositories } from "./search.ts";
import { pathOf } from "./set-aside.ts";

interface UnlockedSearch extends RepositorySearch {
  /** To be called when what was found has been dealt with: gives the directories their permissions back. */
  lockAgain(): void;
}

/** The unreadable ones that remain were changed in this time. */
export async function searchUnlocked(
  roots: string[],
  { changedSinceMs, ...options }: SearchOptions & { changedSinceMs: number },
): Promise<UnlockedSearch> {
  const unlocked: { directory: DirectoryPath; mode: number }[] = [];
  let search = await searchRepositories(roots, options);
  for (let round = 0; round < maxRounds; round += 1) {
    const changed = search.unreadable.filter((directory) => isChangedSince(directory, changedSinceMs));
    const found = changed.flatMap((directory) => unlock(directory) ?? []);
    search = { ...search, unreadable: changed };
    if (found.length === 0) break;
    unlocked.push(...found);
    search = await searchRepositories(roots, options);
  }
  const lockAgain = () => {
    for (const { directory, mode } of unlocked.reverse()) changeMode(directory, () => mode);
  };
  return { ...search, lockAgain };
}

/** Each finds what is below the ones of the last. */
const maxRounds = 16;

function unlock(directory: DirectoryPath): { directory: DirectoryPath; mode: number } | null {
  const mode = changeMode(directory, (before) => before | 0o500);
  return mode === null || (mode & 0o500) === 0o500 ? null : { directory, mode };
}

/** Returns the mode before, or null if it is not a directory whose mode this user can change; only Linux opens such a one. */
function changeMode(directory: DirectoryPath, next: (mode: number) => number): number | null {
  if (process.platform !== "linux") return null;
  let descriptor: number | undefined;
  try {
    descriptor = openSync(directory, pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    const path = pathOf(descriptor, directory);
    const mode = lstatSync(directory).mode & 0o7777;
    if (path === null) return null;
    chmodSync(path, next(mode));
    return mode;
  } catch {
    return null;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** O_PATH, which Node does not name: it opens what cannot be read. */
const pathOnly = 0o10000000;

function isChangedSince(directory: DirectoryPath, ms: number): boolean {
  try {
    return (lstatSync(directory, { throwIfNoEntry: false })?.ctimeMs ?? 0) >= ms;
  } catch {
    // Its path is too long, or a directory above it cannot be entered.
    return true;
  }
}

// Where a hidden path is, or would appear: symbolic links are followed, missing directories and second mounts are named.
import { lstatSync, readlinkSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { resolveExisting } from "../paths.ts";
import { readOtherNames } from "../programs/index.ts";

export interface HiddenPath {
  /** Exists; without symlinks. */
  directory: string;
  /** The entry to hide in it, which may not exist yet. */
  name: string;
}

const maxLinks = 40;

/**
 * A link is hidden itself, and so is what it points to: either may be replaced later. Where a home is mounted a second time, as
 * in a container for development, its files have two names.
 */
export function locateHidden(paths: string[], otherNames = readOtherNames()): HiddenPath[] {
  // Most of them are in a few directories.
  const realPaths = new Map<string, string | undefined>();
  const realPath = (path: string): string | undefined => {
    if (!realPaths.has(path)) realPaths.set(path, resolveExisting(path)[0]);
    return realPaths.get(path);
  };
  const located = paths.flatMap((path) => locate(path, realPath, maxLinks));
  return [...located, ...located.flatMap((hidden) => locateElsewhere(hidden, realPath, otherNames))];
}

/** What this process cannot find there, no process of the user can. */
const locateElsewhere = (
  { directory, name }: HiddenPath,
  realPath: RealPath,
  otherNames: (path: string) => string[],
): HiddenPath[] =>
  otherNames(join(directory, name))
    .map((path) => ({ directory: dirname(path), name: basename(path) }))
    .filter((other) => realPath(other.directory) === other.directory);

type RealPath = (path: string) => string | undefined;

function locate(path: string, realPath: RealPath, linksLeft: number): HiddenPath[] {
  const { directory, names } = nearestDirectory(path, realPath);
  const [name, ...below] = names;
  if (name === undefined) return [];
  const target = linksLeft === 0 ? undefined : readLink(join(directory, name));
  const here = { directory, name };
  if (target === undefined) return [here];
  return [here, ...locate(resolve(directory, target, ...below), realPath, linksLeft - 1)];
}

/** The deepest directory above the path that exists, and the names from there on. */
function nearestDirectory(path: string, realPath: RealPath): { directory: string; names: string[] } {
  const names: string[] = [];
  let directory = path;
  do {
    if (directory === "/") return { directory, names };
    names.unshift(basename(directory));
    directory = dirname(directory);
  } while (realPath(directory) === undefined);
  return { directory: realPath(directory) ?? directory, names };
}

function readLink(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}
